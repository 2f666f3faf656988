// Buckets: the counters for ranges of observations. Explicit bounds for users who know them, and
// log-linear ones (as in an HDR histogram) for others.
//
// Owns       Bounds its bounds.
// Thread     constant once made.
// Allocates  Bounds at construction; finding a bucket allocates nothing.
// Fails      make() names the mistake in the bounds.
// Invariant  a bucket's upper bound belongs to it, as in `le`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/log_scale.hpp"

namespace katana::metrics {

inline constexpr std::size_t bounds_max = 512;  // of one histogram

// Explicit upper bounds of a histogram's buckets.
class Bounds {
 public:
  // Without bounds: one bucket for all values.
  Bounds();
  // At most bounds_max, finite, at or above zero, each above the one before. The bucket above the
  // last bound always exists.
  static Result<Bounds> make(std::vector<double> bounds);

  // The number of buckets, including the one above the last bound.
  std::size_t bucket_count() const noexcept { return count_ + 1; }
  std::span<const double> values() const noexcept { return {padded_.data(), count_}; }  // ascending

  // REQUIRES a value that is not NaN. Compares eight bounds at once, without a branch that depends
  // on the value: a predictor cannot know the bucket.
  std::size_t find(double value) const noexcept {
    const double* bound = padded_.data();
    std::size_t index = 0;
    for (;;) {
      std::size_t above = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) above += value > bound[lane] ? 1 : 0;
      index += above;
      if (above < lanes) return index;
      bound += lanes;
    }
  }

 private:
  static constexpr std::size_t lanes = 8;
  std::vector<double> padded_;  // padded with +Inf: one bound is above every value
  std::size_t count_ = 0;
};

// `count` bounds: start, start + width, …
std::vector<double> linear_bounds(double start, double width, std::size_t count);
// `count` bounds: start, start × factor, …
std::vector<double> exponential_bounds(double start, double factor, std::size_t count);

// Buckets for whole numbers from 0 to value_max. Each is 2^-precision_bits of its value wide: 5
// bits are 3 %, in 32 buckets for each power of two.
class LogBuckets {
 public:
  static constexpr unsigned precision_bits_max = 8;  // wider histograms take too many cells
  // REQUIRES precision_bits ≤ precision_bits_max and value_max ≥ 2^precision_bits.
  explicit LogBuckets(unsigned precision_bits = 5,
                      std::uint64_t value_max = 60'000'000'000) noexcept;

  // One bucket for all values.
  static LogBuckets only_one() noexcept {
    LogBuckets one(0, 1);
    one.last_ = 0;
    return one;
  }

  // For any value; values above value_max are counted in the last bucket.
  std::size_t find(std::uint64_t value) const noexcept {
    return std::min(log_bucket(value, bits_), last_);
  }
  // The number of buckets, including the one for values above value_max.
  std::size_t bucket_count() const noexcept { return last_ + 1; }
  // The largest value that is counted in bucket `index`. REQUIRES index < bucket_count() - 1.
  std::uint64_t upper(std::size_t index) const noexcept { return log_upper(index, bits_); }
  std::uint64_t lower(std::size_t index) const noexcept { return log_lower(index, bits_); }
  unsigned precision_bits() const noexcept { return bits_; }
  // The buckets that end a power of two. A scraper gets only these, because a thousand lines for
  // each series are too many.
  std::vector<std::size_t> octave_ends() const;

  bool operator==(const LogBuckets&) const = default;

 private:
  unsigned bits_;
  std::size_t last_;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
