// Alarm: a thread sleeps until the earliest time that any thread has set. Without such a time it is
// not woken at all.
//
//   alarm.set(deadline);           // any thread, also of a reactor: wakes nobody
//   while (alarm.wait()) {         // the thread: some time that was set has come
//     const Instant next = do_what_is_due(now);
//     alarm.set(next);
//   }
//
// A condition variable would have to wake its thread each time, only for it to wait for less time.
// Here the kernel's timer is moved: a system call, and only if the time is before the present one.
//
// Owns       a timerfd.
// Thread     set() and end() any; open() before them, wait() one.
// Allocates  never.
// Fails      open() when the process has no descriptor left.
// Invariant  data that is written before set() is seen after the wait() that ends at that time or
//            before it, if one mutex guards the data.
#pragma once

#include <atomic>
#include <mutex>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

class Alarm {
 public:
  Alarm() noexcept = default;
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Takes the timer of the kernel. An Error names the missing resource.
  Result<void> open();
  bool is_open() const noexcept { return timer_ >= 0; }

  // wait() returns at `due` at the latest, a time of monotonic_now(); never: nothing happens. Costs
  // a load if an earlier time is set already. Nothing happens before open().
  void set(Instant due) noexcept {
    // seq_cst: a thread that sees the time of before wait() has written its data before, too.
    if (due.ns < due_ns_.load(std::memory_order_seq_cst)) move_to(due);
  }
  // The time that is set, for callers that check it in their own code. Read it with seq_cst.
  const std::atomic<std::int64_t>& due_ns() const noexcept { return due_ns_; }
  // Sleeps until the earliest time that was set, and forgets all that were set. Returns false after
  // end().
  bool wait() noexcept;
  // Ends wait(), now and for ever.
  void end() noexcept;

 private:
  void move_to(Instant due) noexcept;

  int timer_ = -1;
  std::atomic<std::int64_t> due_ns_ = never.ns;
  std::atomic<bool> has_ended_ = false;
  std::mutex mutex_;  // of the kernel's timer, which has the time of due_ns_
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
