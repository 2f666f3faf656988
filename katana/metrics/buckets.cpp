#include "katana/metrics/buckets.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "katana/base/check.hpp"

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
  // One at least: the search ends at a bound that nothing is above.
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
    : bits_(precision_bits),
      unit_(std::uint64_t{1} << precision_bits),
      last_(std::numeric_limits<std::size_t>::max()) {
  KATANA_REQUIRE(precision_bits <= precision_bits_max && value_max >= unit_);
  last_ = find(value_max) + 1;
}

std::uint64_t LogBuckets::lower(std::size_t index) const noexcept {
  const std::size_t block = index >> bits_;
  if (block == 0) return index;
  return (unit_ + (index & (unit_ - 1))) << (block - 1);
}

std::uint64_t LogBuckets::upper(std::size_t index) const noexcept {
  const std::size_t block = index >> bits_;
  return lower(index) + (block == 0 ? 0 : (std::uint64_t{1} << (block - 1)) - 1);
}

std::vector<std::size_t> LogBuckets::octave_ends() const {
  std::vector<std::size_t> ends;
  for (std::size_t index = unit_ - 1; index < last_; index += unit_) ends.push_back(index);
  if (ends.back() + 1 < last_) ends.push_back(last_ - 1);
  return ends;
}

}  // namespace katana::metrics
