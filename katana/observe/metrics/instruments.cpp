#include "katana/observe/metrics/instruments.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "katana/base/system/check.hpp"

namespace katana::metrics {

const Bounds detail::no_bounds;

void Histogram::observe_slowly(std::size_t bucket, double value) const noexcept {
  cells::detail::add_to_ended(cells_.first + 1 + bucket, std::uint64_t{1});
  cells::detail::add_to_ended(cells_.first, value);
}

std::uint64_t Histogram::count() const noexcept {
  const cells::Reading reading;
  std::uint64_t total = 0;
  for (std::size_t index = 1; index < cells_.count; ++index) total += reading.sum(cells_, index);
  return total;
}

double Histogram::sum() const noexcept { return cells::Reading().sum_double(cells_); }

void LogHistogram::observe_slowly(std::size_t bucket, std::uint64_t value) const noexcept {
  cells::detail::add_to_ended(cells_.first + 1 + bucket, std::uint64_t{1});
  cells::detail::add_to_ended(cells_.first, value);
}

void LogHistogram::note_exemplar(Duration duration, const Exemplar& exemplar) const noexcept {
  if (exemplars_ == nullptr) return;
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.ns, 0));
  exemplars_->put(buckets_.find(value), value, exemplar);
}

LogSnapshot LogHistogram::snapshot() const {
  LogSnapshot taken{buckets_, std::vector<std::uint64_t>(cells_.count - 1)};
  const cells::Reading reading;
  reading.sums(cells_, 1, taken.counts);
  for (const std::uint64_t each : taken.counts) taken.count += each;
  taken.sum = reading.sum(cells_);
  return taken;
}

std::uint64_t LogSnapshot::quantile(double q) const noexcept {
  if (count == 0) return 0;
  const double exact = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(exact), 1, count);
  std::uint64_t seen = 0;
  for (std::size_t index = 0; index + 1 < counts.size(); ++index) {
    seen += counts[index];
    if (seen >= rank) return buckets.upper(index);
  }
  return buckets.upper(counts.size() - 2);  // above value_max: at least that
}

LogSnapshot& LogSnapshot::operator+=(const LogSnapshot& other) {
  KATANA_REQUIRE(buckets == other.buckets && counts.size() == other.counts.size());
  std::ranges::transform(counts, other.counts, counts.begin(), std::plus<>());
  count += other.count;
  sum += other.sum;
  return *this;
}

LogSnapshot& LogSnapshot::operator-=(const LogSnapshot& earlier) {
  KATANA_REQUIRE(buckets == earlier.buckets && counts.size() == earlier.counts.size());
  std::ranges::transform(counts, earlier.counts, counts.begin(), std::minus<>());
  count -= earlier.count;
  sum -= earlier.sum;
  return *this;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
