// ManualClock: a clock that tests move, for delayed and periodic jobs and for scaling.
//
// Borrows    the pools that were created with it, until they are stopped; it must outlive them.
// Thread     any; advance() one at a time.
// Allocates  the list of its pools.
// Fails      never.
// Invariant  the thread that calls advance() handles all due work in the order of its time before
//            advance() returns. Jobs are then queued, but may not have run yet.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::thread {

class TimerThread;

class ManualClock {
 public:
  explicit ManualClock(Instant now = {}) noexcept : now_ns_(now.ns) {}
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  // The time of the clock. Only advance() moves it.
  Instant now() const noexcept { return {now_ns_.load(std::memory_order_acquire)}; }
  // Moves the clock by `duration`, which is not negative. Returns when all due jobs are queued.
  void advance(Duration duration);

 private:
  friend class TimerThread;
  void attach(TimerThread& timer_thread);
  void detach(TimerThread& timer_thread) noexcept;

  std::atomic<std::int64_t> now_ns_;
  std::mutex mutex_;
  std::vector<TimerThread*> timer_threads_;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
