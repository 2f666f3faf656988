#include "lab/load/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "katana/base/system/check.hpp"

namespace katana::load {

double draw_exponential(Random& random) noexcept {
  const double uniform = static_cast<double>((random.next() >> 11) + 1) * 0x1p-53;  // (0, 1]
  return -std::log(uniform);
}

void RatePlan::add(Duration duration, double rate_begin, double rate_end) {
  KATANA_REQUIRE(duration.ns > 0 && rate_begin >= 0 && rate_end >= 0);
  const double begin = pieces_.empty() ? 0 : pieces_.back().begin_ns + pieces_.back().length_ns;
  const double count = pieces_.empty() ? 0 : pieces_.back().count_end;
  const auto length = static_cast<double>(duration.ns);
  const double mean = (rate_begin + rate_end) / 2 / 1e9;
  pieces_.push_back({.begin_ns = begin,
                     .length_ns = length,
                     .count_begin = count,
                     .count_end = count + mean * length,
                     .rate = rate_begin / 1e9,
                     .slope = (rate_end - rate_begin) / 1e9 / length});
}

void RatePlan::append(const RatePlan& later) {
  for (const Piece& piece : later.pieces_) {
    const double end = piece.rate + piece.slope * piece.length_ns;
    add({std::llround(piece.length_ns)}, piece.rate * 1e9, end * 1e9);
  }
}

Duration RatePlan::duration() const noexcept {
  if (pieces_.empty()) return {};
  return {std::llround(pieces_.back().begin_ns + pieces_.back().length_ns)};
}

Instant RatePlan::time_of(double count, std::size_t& hint) const noexcept {
  while (hint < pieces_.size() && count >= pieces_[hint].count_end) ++hint;
  if (hint == pieces_.size()) return never;
  const Piece& piece = pieces_[hint];
  const double missing = count - piece.count_begin;
  // rate·t + slope·t²/2 = missing, in the form that loses no digits when the slope is small.
  const double root = std::sqrt(std::max(0.0, piece.rate * piece.rate + 2 * piece.slope * missing));
  const double divisor = piece.rate + root;
  const double time = divisor == 0 ? 0 : 2 * missing / divisor;
  return {std::llround(piece.begin_ns + std::min(time, piece.length_ns))};
}

double RatePlan::count_until(Instant time) const noexcept {
  double count = 0;
  for (const Piece& piece : pieces_) {
    const double since = static_cast<double>(time.ns) - piece.begin_ns;
    if (since <= 0) break;
    const double inside = std::min(since, piece.length_ns);
    count = piece.count_begin + piece.rate * inside + piece.slope * inside * inside / 2;
  }
  return count;
}

Schedule::Schedule(const RatePlan& plan, Part part) noexcept
    : plan_(plan), part_(part), random_(part.seed + part.index), left_in_burst_(part.burst) {
  KATANA_REQUIRE(part.index < part.of && part.burst > 0);
  // Threads take turns, so that together they are as even as one.
  count_ = part.poisson ? draw_exponential(random_) * part.of * part.burst
                        : static_cast<double>(part.index) * part.burst;
  due_ = plan_.time_of(count_, hint_);
}

void Schedule::take() noexcept {
  if (due_ == never || --left_in_burst_ > 0) return;
  left_in_burst_ = part_.burst;
  const double groups = part_.poisson ? draw_exponential(random_) : 1;
  count_ += groups * part_.of * part_.burst;
  due_ = plan_.time_of(count_, hint_);
}

std::uint64_t Schedule::take_until(Instant end) noexcept {
  std::uint64_t taken = 0;
  for (; due_ < end; take()) ++taken;
  return taken;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
