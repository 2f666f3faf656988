#include "lab/load/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace katana::load {

// calloc and not new: memory that comes as zeros from the kernel is not touched.
Histogram::Histogram()
    : counts_(static_cast<std::uint64_t*>(std::calloc(counts_size, sizeof(std::uint64_t)))) {
  if (!counts_) throw std::bad_alloc();
}

void Histogram::add(const Histogram& other) noexcept {
  const std::size_t end = other.used();
  for (std::size_t index = 0; index < end; ++index) counts_[index] += other.counts_[index];
  sum_ns_ += other.sum_ns_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

void Histogram::reset() noexcept {
  std::fill_n(counts_.get(), used(), std::uint64_t{0});
  sum_ns_ = 0;
  max_ns_ = -1;
}

std::span<const std::uint64_t> Histogram::counts() const noexcept {
  return {counts_.get(), used()};
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts()) sum += count;
  return sum;
}

std::int64_t Histogram::percentile_ns(double percent) const noexcept {
  const std::uint64_t all = count();
  if (all == 0) return 0;
  // 99.9 % of 1,000 is 999, although 0.999 is no binary fraction: hence the small allowance.
  const double rank = std::ceil(percent / 100 * static_cast<double>(all) * (1 - 1e-12));
  const auto wanted = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rank), 1, all);
  std::uint64_t seen = 0;
  std::size_t index = 0;
  while ((seen += counts_[index]) < wanted) ++index;
  return std::min(highest_of(index), max_ns_);
}

std::int64_t Histogram::min_ns() const noexcept {
  const auto all = counts();
  const auto first = std::ranges::find_if(all, [](std::uint64_t count) { return count != 0; });
  return first == all.end() ? 0 : lowest_of(static_cast<std::size_t>(first - all.begin()));
}

double Histogram::mean_ns() const noexcept {
  const std::uint64_t all = count();
  return all == 0 ? 0 : sum_ns_ / static_cast<double>(all);
}

double Histogram::deviation_ns() const noexcept {
  const auto all = counts();
  const double mean = mean_ns();
  double squares = 0;
  double count = 0;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index] == 0) continue;
    const double middle =
        (static_cast<double>(lowest_of(index)) + static_cast<double>(highest_of(index))) / 2;
    const auto times = static_cast<double>(all[index]);
    squares += times * (middle - mean) * (middle - mean);
    count += times;
  }
  return count == 0 ? 0 : std::sqrt(squares / count);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
