#include "katana/observe/metrics/buckets.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "katana/base/system/check.hpp"

namespace katana::metrics {

Bounds::Bounds() : padded_(lanes, std::numeric_limits<double>::infinity()) {}

Result<Bounds> Bounds::make(std::vector<double> bounds) {
  if (bounds.empty() || bounds.size() > bounds_max) {
    return fail(Code::invalid_argument, fmt::format("{} bucket bounds were given: give 1 to {}",
                                                    bounds.size(), bounds_max));
  }
  for (std::size_t index = 0; index < bounds.size(); ++index) {
    const double bound = bounds[index];
    if (!std::isfinite(bound) || bound < 0) {
      return fail(Code::invalid_argument,
                  fmt::format("bucket bound {} is not a finite number at or above zero: the bucket "
                              "above the last bound is always there",
                              bound));
    }
    if (index > 0 && bound <= bounds[index - 1]) {
      return fail(Code::invalid_argument,
                  fmt::format("bucket bound {} follows {}: give them in rising order", bound,
                              bounds[index - 1]));
    }
  }
  Bounds made;
  made.count_ = bounds.size();
  made.padded_ = std::move(bounds);
  // At least one: the search ends at a bound that no value exceeds.
  made.padded_.resize((made.count_ / lanes + 1) * lanes, std::numeric_limits<double>::infinity());
  return made;
}

std::vector<double> linear_bounds(double start, double width, std::size_t count) {
  std::vector<double> bounds;
  for (std::size_t index = 0; index < count; ++index) {
    bounds.push_back(start + width * static_cast<double>(index));
  }
  return bounds;
}

std::vector<double> exponential_bounds(double start, double factor, std::size_t count) {
  std::vector<double> bounds;
  for (double bound = start; bounds.size() < count; bound *= factor) bounds.push_back(bound);
  return bounds;
}

LogBuckets::LogBuckets(unsigned precision_bits, std::uint64_t value_max) noexcept
    : bits_(precision_bits), last_(log_bucket(value_max, precision_bits) + 1) {
  KATANA_REQUIRE(precision_bits <= precision_bits_max && value_max >> precision_bits != 0);
}

std::vector<std::size_t> LogBuckets::octave_ends() const {
  std::vector<std::size_t> ends;
  const std::size_t unit = std::size_t{1} << bits_;
  for (std::size_t index = unit - 1; index < last_; index += unit) ends.push_back(index);
  if (ends.back() + 1 < last_) ends.push_back(last_ - 1);
  return ends;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
