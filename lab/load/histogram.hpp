// Histogram: counts of durations with three significant digits, in fixed memory.
//
// The buckets are those of HdrHistogram (1 ns … 1 h, 3 digits): below 2,048 every nanosecond has a
// bucket. From there on each doubling of the value is divided into 1,024. A reported value is
// therefore at most 0.1 % above the recorded one, and histograms of several runs add up exactly.
//
// Owns       its counts: 33,792 of 8 bytes; a page that no value fell into is never touched.
// Thread     a value of one thread; hand it over, do not share it.
// Allocates  once, when made.
// Fails      std::bad_alloc. A value beyond an hour counts as one hour.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "katana/base/values/log_scale.hpp"

namespace katana::load {

class Histogram {
 public:
  static constexpr int significant_digits = 3;
  static constexpr std::int64_t value_min_ns = 1;
  static constexpr std::int64_t value_max_ns = 3'600'000'000'000;
  static constexpr int sub_bucket_bits = 11;
  static constexpr std::size_t buckets = 32;
  static constexpr std::size_t counts_size = (buckets + 1) << (sub_bucket_bits - 1);

  Histogram();

  void record(std::int64_t value_ns) noexcept { record_many(value_ns, 1); }
  void record_many(std::int64_t value_ns, std::uint64_t times) noexcept {
    value_ns = value_ns < 0 ? 0 : value_ns > value_max_ns ? value_max_ns : value_ns;
    counts_[index_of(value_ns)] += times;
    sum_ns_ += static_cast<double>(value_ns) * static_cast<double>(times);
    if (value_ns > max_ns_) max_ns_ = value_ns;
  }
  void add(const Histogram& other) noexcept;
  void reset() noexcept;

  std::uint64_t count() const noexcept;
  // The smallest value of at least `percent` of all: nearest rank, rounded up to the end of its
  // bucket, never above the maximum. 0 without values.
  std::int64_t percentile_ns(double percent) const noexcept;
  std::int64_t min_ns() const noexcept;  // the beginning of the first bucket in use
  std::int64_t max_ns() const noexcept { return max_ns_; }  // exact
  double mean_ns() const noexcept;                          // exact
  double deviation_ns() const noexcept;                     // from the middles of the buckets
  // Up to the last that is not 0.
  std::span<const std::uint64_t> counts() const noexcept;

  static std::size_t index_of(std::int64_t value_ns) noexcept {
    return log_bucket(static_cast<std::uint64_t>(value_ns), sub_bucket_bits - 1);
  }
  static std::int64_t lowest_of(std::size_t index) noexcept {
    return static_cast<std::int64_t>(log_lower(index, sub_bucket_bits - 1));
  }
  static std::int64_t highest_of(std::size_t index) noexcept {
    return static_cast<std::int64_t>(log_upper(index, sub_bucket_bits - 1));
  }

 private:
  struct Free {
    void operator()(std::uint64_t* counts) const noexcept { std::free(counts); }
  };
  std::size_t used() const noexcept { return max_ns_ < 0 ? 0 : index_of(max_ns_) + 1; }

  std::unique_ptr<std::uint64_t[], Free> counts_;
  double sum_ns_ = 0;
  std::int64_t max_ns_ = -1;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
