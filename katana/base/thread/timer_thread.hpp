// TimerThread: does the timed work of a pool: it queues due jobs, and scales the pool.
//
// Owns       its thread, from start() on. With a ManualClock it has none: the clock's caller does
//            the work.
// Borrows    the clock, and the objects to which `keep` refers, until stop().
// Thread     look_again() any; start() and stop() one at a time.
// Fails      start() returns an Error when the system has no thread left.
// Invariant  `keep` is called with the present time, one call at a time. A call comes at the latest
//            at the time that it returned, and after every look_again(). Otherwise the thread
//            sleeps.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/clock.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class TimerThread {
 public:
  // `keep` does the due work, and returns the time of its next call, or `never`.
  TimerThread(ManualClock* clock, std::function<Instant(Instant)> keep);
  ~TimerThread() { stop(); }

  Instant now() const noexcept;                 // the time of the ManualClock if there is one
  Result<void> start(const std::string& name);  // `name` is the name of the thread
  void look_again() noexcept;  // calls `keep` soon, because earlier work may be due
  void stop() noexcept;        // returns when `keep` does not run and will not run again

 private:
  friend class ManualClock;
  void loop();

  ManualClock* clock_;
  std::function<Instant(Instant)> keep_;
  Instant next_ = never;  // next call by the ManualClock, under its lock
  std::mutex mutex_;      // guards the members below
  std::condition_variable changed_;
  bool started_ = false;
  bool asked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
