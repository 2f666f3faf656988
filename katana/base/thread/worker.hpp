// Worker: one thread of a pool, with its claim and its counters.
//
// Owns       its thread.
// Thread     `claim` any; `signal` its own and the thread that wakes it. Its own thread writes the
//            counts, and any reads them. The rest belongs to the pool.
// Allocates  never.
// Fails      never.
// Invariant  a claimed position is taken by exactly one thread: the one that moved the claim past
//            it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "katana/base/system/futex.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/snapshot.hpp"

namespace katana::thread {

// The positions [begin, begin + count) of a lane, in one word: 48 bits of position, 4 of lane, 12
// of count. The owner and a thief agree about it by one compare-exchange.
class Claim {
 public:
  static constexpr std::size_t count_limit = (1 << 12) - 1;  // jobs that one claim can have

  Claim() = default;
  explicit Claim(std::uint64_t word) noexcept : word_(word) {}
  Claim(std::uint64_t begin, std::size_t queue, std::size_t count) noexcept
      : word_(begin << 16 | queue << 12 | count) {}

  std::uint64_t word() const noexcept { return word_; }  // for compare-exchange
  // The first position, modulo 2^48; the size of every ring divides 2^48.
  std::uint64_t begin() const noexcept { return word_ >> 16; }
  std::size_t queue() const noexcept { return word_ >> 12 & 15; }
  std::size_t count() const noexcept { return word_ & count_limit; }
  // The number of positions by which begin() is behind `head`.
  std::uint64_t behind(std::uint64_t head) const noexcept {
    return ((head << 16) - (word_ >> 16 << 16)) >> 16;
  }
  Claim without_front() const noexcept { return Claim(word_ + (1 << 16) - 1); }
  Claim without_back(std::size_t taken) const noexcept { return Claim(word_ - taken); }

 private:
  std::uint64_t word_ = 0;
};

struct alignas(64) Worker {
  // A job that left the queue, with the values for its measurement.
  struct Taken {
    Job job;                 // no longer in the queue
    std::int64_t pushed_ns;  // or JobQueue::not_timed
    std::size_t queue;       // its priority
  };
  // A count that only one thread writes, without a locked instruction.
  struct Count {
    std::atomic<std::uint64_t> value = 0;  // written by one thread, read by any
    // Only the writing thread may call it.
    void add(std::uint64_t amount) noexcept {
      value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    // Any thread may call it.
    std::uint64_t read() const noexcept { return value.load(std::memory_order_relaxed); }
  };
  // A Histogram that only one thread writes.
  struct Times {
    std::array<Count, Histogram::buckets_max> buckets;  // as Histogram::buckets
    Count sum_ns;                                       // sum of all durations
    // Negative durations count as 0.
    void record(Duration value) noexcept {
      buckets[Histogram::bucket_of(value)].add(1);
      sum_ns.add(value > Duration{} ? static_cast<std::uint64_t>(value.ns) : 0);
    }
    // Adds its counts to those of `histogram`. Any thread may call it.
    void add_to(Histogram& histogram) const noexcept {
      for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
        const std::uint64_t count = buckets[bucket].read();
        histogram.buckets[bucket] += count;
        histogram.count += count;
      }
      histogram.sum.ns += static_cast<std::int64_t>(sum_ns.read());
    }
  };
  static constexpr std::int64_t not_busy = -1;  // value of busy_since while it waits for a job

  std::atomic<std::uint64_t> claim = 0;  // a Claim; 0: nothing is claimed

  // Used only by its own thread.
  alignas(64) std::uint32_t picks = 0;
  std::uint32_t claims = 0;
  std::uint32_t index = 0;
  std::array<Count, 3> ended;  // by Ended
  Count stolen;
  Count busy_ns;                                   // sum of the ended busy periods
  std::atomic<std::int64_t> busy_since{not_busy};  // begin of the current busy period
  Times wait;
  Times run;

  // Used by the threads that park and wake it.
  alignas(64) FutexWord signal = 0;
  bool retire = false;  // written before the signal
  std::atomic<bool> alive = false;
  std::thread thread;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
