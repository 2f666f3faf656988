// RateLimit: at most so many records of one call site in each period.
//
//   logger.warn(KATANA_AT_MOST(10, seconds(1)), "client {} refused", address);
//
// The first record of a new period carries the field `suppressed`: the number of records held back
// since the last one.
//
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  at most `records` records pass in a period of the monotonic clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::log {

class RateLimit {
 public:
  // REQUIRES records > 0 and a period of at least a millisecond.
  constexpr RateLimit(std::uint32_t records, Duration period) noexcept
      : records_(records), period_ns_(period.ns) {}

  // The decision of ask() about one record.
  struct Verdict {
    bool pass;                 // the record is to be written
    std::uint64_t suppressed;  // since the last that passed; 0 unless this one passes
  };
  // `now` is of the monotonic clock.
  Verdict ask(Instant now) noexcept {
    const auto period = static_cast<std::uint32_t>(now.ns / period_ns_) + 1;  // 0 is none yet
    // One word holds the period and its count: a new period begins with its first record.
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    while (true) {
      const bool same = static_cast<std::uint32_t>(seen >> 32) == period;
      const std::uint64_t count = same ? seen & UINT32_MAX : 0;
      if (count >= records_) {
        suppressed_.fetch_add(1, std::memory_order_relaxed);
        return {false, 0};
      }
      const std::uint64_t next = (std::uint64_t{period} << 32) | (count + 1);
      if (state_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) break;
    }
    if (suppressed_.load(std::memory_order_relaxed) == 0) return {true, 0};
    return {true, suppressed_.exchange(0, std::memory_order_relaxed)};
  }
  // The number of suppressed records since the last one that passed.
  std::uint64_t suppressed() const noexcept { return suppressed_.load(std::memory_order_relaxed); }

 private:
  const std::uint32_t records_;
  const std::int64_t period_ns_;
  std::atomic<std::uint64_t> state_{0};
  std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace katana::log

// A limit for this call site alone.
// `records` records in each `period`; the rest is counted as suppressed.
#define KATANA_AT_MOST(records, period)                               \
  ([]() -> ::katana::log::RateLimit& {                                \
    static constinit ::katana::log::RateLimit limit(records, period); \
    return limit;                                                     \
  }())

// SPDX-License-Identifier: Apache-2.0
