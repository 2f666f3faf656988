// Exemplars: for each bucket of a histogram the newest observation that has a trace. A reader of a
// slow bucket finds a trace of it.
//
// Owns       its slots, one for each bucket that is exposed.
// Thread     any. A slot that another thread writes at this moment is left to that thread.
// Allocates  at construction.
// Fails      never.
// Invariant  get() returns what one put() wrote, never parts of two.
//
// Source     OpenMetrics 1.0 (Exemplars); opentelemetry/proto/metrics/v1/metrics.proto (Exemplar).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace katana::metrics {

// An observation, and the span that it belongs to.
struct Exemplar {
  std::uint64_t trace_high = 0;  // the trace's id, in two halves
  std::uint64_t trace_low = 0;   // not both are zero
  std::uint64_t span = 0;        // the span's id
  double value = 0;              // in the unit of the metric
  std::int64_t at_ns = 0;        // when it was observed, since 1970

  bool operator==(const Exemplar&) const = default;
};

class Exemplars {
 public:
  explicit Exemplars(std::size_t buckets) : slots_(std::make_unique<Slot[]>(buckets)) {}

  // Replaces the exemplar of a bucket.
  void put(std::size_t bucket, const Exemplar& exemplar) noexcept;
  // Nothing: there is none yet, or it is being replaced again and again.
  std::optional<Exemplar> get(std::size_t bucket) const noexcept;

 private:
  static constexpr std::size_t words = 5;
  // A sequence lock: odd while a thread writes.
  struct Slot {
    std::atomic<std::uint32_t> sequence{0};
    std::array<std::atomic<std::uint64_t>, words> content{};
  };

  const std::unique_ptr<Slot[]> slots_;
};

namespace detail {

// The exemplars of a series of a log histogram.
class SeriesExemplars {
 public:
  // `told`: the exposed buckets, by the index of the last bucket that each includes; borrowed.
  SeriesExemplars(const std::vector<std::size_t>& told, double divisor)
      : told_(told), divisor_(divisor), exemplars_(told.size() + 1) {}
  // `counted`: the value as the histogram counts it, in the bucket of this index.
  void put(std::size_t bucket, std::uint64_t counted, Exemplar exemplar) noexcept {
    exemplar.value = static_cast<double>(counted) / divisor_;
    const auto told = std::ranges::lower_bound(told_, bucket);
    exemplars_.put(static_cast<std::size_t>(told - told_.begin()), exemplar);
  }
  // `told`: an exposed bucket; the last one is that above all bounds.
  std::optional<Exemplar> get(std::size_t told) const noexcept { return exemplars_.get(told); }

 private:
  const std::vector<std::size_t>& told_;
  const double divisor_;
  Exemplars exemplars_;
};

}  // namespace detail

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
