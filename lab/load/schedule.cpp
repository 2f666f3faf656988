#include "load/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "katana/base/check.hpp"

namespace katana::load {

Random::Random(std::uint64_t seed) noexcept {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::exponential() noexcept {
  const double uniform = static_cast<double>((next() >> 11) + 1) * 0x1p-53;  // (0, 1]
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
  count_ = part.poisson ? random_.exponential() * part.of * part.burst
                        : static_cast<double>(part.index) * part.burst;
  due_ = plan_.time_of(count_, hint_);
}

void Schedule::take() noexcept {
  if (due_ == never || --left_in_burst_ > 0) return;
  left_in_burst_ = part_.burst;
  const double groups = part_.poisson ? random_.exponential() : 1;
  count_ += groups * part_.of * part_.burst;
  due_ = plan_.time_of(count_, hint_);
}

std::uint64_t Schedule::take_until(Instant end) noexcept {
  std::uint64_t taken = 0;
  for (; due_ < end; take()) ++taken;
  return taken;
}

}  // namespace katana::load
