// Counter, Gauge, ObservedCounter, Histogram, LogHistogram: handles to one series each. Resolve a
// handle from its family once, keep it, copy it.
//
// Owns       nothing.
// Borrows    its series, which lives as long as the Registry.
// Thread     any; one handle may be used by all at once.
// Allocates  once per thread (see cells.hpp).
// Fails      never. A default-constructed handle counts nothing visible.
// Invariant  Counter and the histograms write memory of the calling thread only. A Gauge is one
//            number that all threads share, because "set" has no meaning for parts of it.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/observe/metrics/buckets.hpp"
#include "katana/observe/metrics/cells.hpp"
#include "katana/observe/metrics/exemplars.hpp"

namespace katana::metrics {

class Counter {
 public:
  Counter() noexcept = default;
  explicit Counter(const cells::Range& cell) noexcept : offset_(cells::offset_of(cell)) {}
  // Takes about a nanosecond, without a lock.
  void add(std::uint64_t count = 1) const noexcept { cells::add(offset_, count); }
  // The sum of all threads. Takes a lock: for tests and reports, not for decisions in a hot path.
  std::uint64_t value() const noexcept {
    return cells::Reading().sum({offset_ / sizeof(std::uint64_t), 1});
  }

 private:
  cells::Offset offset_ = 0;
};

namespace detail {
inline std::atomic<double> nobodys_value = 0;
extern const Bounds no_bounds;  // one bucket for everything
}  // namespace detail

class Gauge {
 public:
  Gauge() noexcept = default;
  explicit Gauge(std::atomic<double>& value) noexcept : value_(&value) {}
  // Sets the value; the last call wins.
  void set(double value) const noexcept { value_->store(value, std::memory_order_relaxed); }
  // May be negative.
  void add(double amount) const noexcept { value_->fetch_add(amount, std::memory_order_relaxed); }
  void subtract(double amount) const noexcept { add(-amount); }  // an earlier add()
  // The value at this moment.
  double value() const noexcept { return value_->load(std::memory_order_relaxed); }

 private:
  std::atomic<double>* value_ = &detail::nobodys_value;
};

// A counter of another owner, such as the kernel or a pool, that is read before each scrape.
class ObservedCounter {
 public:
  ObservedCounter() noexcept = default;
  explicit ObservedCounter(std::atomic<double>& value) noexcept : value_(&value) {}
  // A smaller value, or NaN, is ignored: a counter does not go backwards.
  void observe(double value) const noexcept {
    double before = value_->load(std::memory_order_relaxed);
    while (value > before &&
           !value_->compare_exchange_weak(before, value, std::memory_order_relaxed)) {
    }
  }
  double value() const noexcept { return value_->load(std::memory_order_relaxed); }

 private:
  std::atomic<double>* value_ = &detail::nobodys_value;
};

class Histogram {
 public:
  Histogram() noexcept = default;
  Histogram(const cells::Range& cells, const Bounds& bounds) noexcept
      : offset_(cells::offset_of(cells)), bounds_(&bounds), cells_(cells) {}

  // A negative value or NaN is observed as zero: scrapers see the sum as a counter.
  void observe(double value) const noexcept {
    value = value > 0 ? value : 0;
    const std::size_t bucket = bounds_->find(value);
    std::uint64_t* const all = cells::here();
    if (all == nullptr) [[unlikely]] {
      return observe_slowly(bucket, value);
    }
    std::uint64_t* const own = cells::at(all, offset_);
    cells::detail::add(own[1 + bucket], std::uint64_t{1});
    cells::detail::add(own[0], value);
  }
  std::uint64_t count() const noexcept;
  double sum() const noexcept;

 private:
  [[gnu::cold]] void observe_slowly(std::size_t bucket, double value) const noexcept;

  cells::Offset offset_ = 0;  // the sum, then one for each bucket
  const Bounds* bounds_ = &detail::no_bounds;
  cells::Range cells_;
};

// The content of a LogHistogram at one moment.
struct LogSnapshot {
  LogBuckets buckets;                 // which bucket has which values
  std::vector<std::uint64_t> counts;  // by bucket
  std::uint64_t count = 0;            // of all buckets
  std::uint64_t sum = 0;              // of all observations, as they were counted

  // The largest value of the bucket that holds the observation of rank ⌈q × count⌉, 0 ≤ q ≤ 1. The
  // error is at most 2^-precision_bits. 0 without observations.
  std::uint64_t quantile(double q) const noexcept;

  // For the same buckets: the sum of both; the difference to an earlier snapshot.
  LogSnapshot& operator+=(const LogSnapshot& other);
  LogSnapshot& operator-=(const LogSnapshot& earlier);
};

class LogHistogram {
 public:
  LogHistogram() noexcept = default;
  LogHistogram(const cells::Range& cells, const LogBuckets& buckets,
               detail::SeriesExemplars* exemplars = nullptr) noexcept
      : offset_(cells::offset_of(cells)), buckets_(buckets), cells_(cells), exemplars_(exemplars) {}

  void observe(std::uint64_t value) const noexcept {
    const std::size_t bucket = buckets_.find(value);
    std::uint64_t* const all = cells::here();
    if (all == nullptr) [[unlikely]] {
      return observe_slowly(bucket, value);
    }
    std::uint64_t* const own = cells::at(all, offset_);
    cells::detail::add(own[1 + bucket], std::uint64_t{1});
    cells::detail::add(own[0], value);
  }
  // In nanoseconds. A negative duration, for example of a clock that was set, is observed as zero.
  void observe(Duration duration) const noexcept {
    observe(duration.ns > 0 ? static_cast<std::uint64_t>(duration.ns) : std::uint64_t{0});
  }
  // The trace of an observed duration, which becomes the exemplar of its bucket. Does not count
  // it, and does nothing where the family keeps no exemplars. The value is that of the duration.
  void note_exemplar(Duration duration, const Exemplar& exemplar) const noexcept;
  LogSnapshot snapshot() const;

 private:
  [[gnu::cold]] void observe_slowly(std::size_t bucket, std::uint64_t value) const noexcept;

  cells::Offset offset_ = 0;  // the sum, then one for each bucket
  LogBuckets buckets_ = LogBuckets::only_one();
  cells::Range cells_;
  detail::SeriesExemplars* exemplars_ = nullptr;  // null: the family keeps none
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
