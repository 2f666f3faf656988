// RateTable: the table of a rate limit. For each key it has the time at which the burst is full.
//
// Owns       a table of fixed size.
// Thread     any; each part of the table has a lock, held for some ten nanoseconds.
// Allocates  at construction, 16 bytes for each key.
// Fails      never: a full table forgets the least active key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::detail {

// Token buckets, each as the time at which it will be full again (GCRA).
class RateTable {
 public:
  RateTable(double per_second, std::uint32_t burst, std::size_t keys_max, std::uint64_t secret);

  struct Verdict {
    bool passes;
    std::uint32_t left;  // that could follow at once
    Duration wait;       // until the next one passes, when this one does not
    Duration until_full;
  };
  Verdict take(Bytes key, Instant now) noexcept;
  // Any thread. A concurrent request may see one of the values old and the other new.
  void set_rate(double per_second, std::uint32_t burst);
  std::uint32_t burst() const noexcept { return burst_.load(std::memory_order_relaxed); }
  // The time in which a key that has used its burst gets all of it back.
  Duration window() const noexcept {
    return nanoseconds(interval_ns_.load(std::memory_order_relaxed) * burst());
  }
  std::size_t capacity() const noexcept { return sets_.size() * ways; }

 private:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t locks = 64;
  struct Bucket {
    std::uint64_t key = 0;
    std::int64_t full_at_ns = INT64_MIN;
  };
  struct Set {
    Bucket buckets[ways];
  };
  std::uint64_t hash(Bytes key) const noexcept;

  // Relaxed: independent values that order nothing.
  std::atomic<std::int64_t> interval_ns_;  // of one request
  std::atomic<std::uint32_t> burst_;
  const std::uint64_t secret_;
  std::vector<Set> sets_;
  std::unique_ptr<std::mutex[]> locks_;
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
