// TimerThread: what a pool has to do at certain times: queue what is due, and scale.
//
// Owns       its own thread, from start() on; with a ManualClock none, the clock's caller does
//            the work.
// Borrows    the clock, and what `keep` refers to, until stop().
// Thread     look_again() any; start() and stop() one at a time.
// Fails      start() returns an Error when the system has no thread left.
// Invariant  `keep` is called with the present, one call at a time, no later than it asked for, and
//            after every look_again(). While it asks for nothing the thread sleeps.
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
  // `keep` does what is due and returns when it next wants to be called, or never.
  TimerThread(ManualClock* clock, std::function<Instant(Instant)> keep);
  ~TimerThread() { stop(); }

  Instant now() const noexcept;                 // of the ManualClock if there is one
  Result<void> start(const std::string& name);  // `name` is that of the thread
  void look_again() noexcept;  // calls `keep` soon, because something earlier may be due
  void stop() noexcept;        // returns when `keep` is not running and will not run again

 private:
  friend class ManualClock;
  void loop();

  ManualClock* clock_;
  std::function<Instant(Instant)> keep_;
  Instant next_ = never;  // of the ManualClock, under its lock
  std::mutex mutex_;      // what follows
  std::condition_variable changed_;
  bool started_ = false;
  bool asked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
