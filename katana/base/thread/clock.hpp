// ManualClock: time that passes when it is told to, for tests of delayed, periodic and scaled work.
//
// Borrows    the pools that were created with it, until they are stopped; it must outlive them.
// Thread     any; advance() one at a time.
// Allocates  the list of its pools.
// Fails      never.
// Invariant  whatever is due on the way is done in the order of its time, by the thread that calls
//            advance(), before advance() returns: jobs are then queued, though not yet run.
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

  // Moves by advance() alone.
  Instant now() const noexcept { return {now_ns_.load(std::memory_order_acquire)}; }
  // Not negative. Returns when everything that became due is queued.
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
