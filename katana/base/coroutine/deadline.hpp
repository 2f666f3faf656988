// Deadline: the time by which the work on this thread must be done. A suspended coroutine keeps it
// (Waiting, activity.hpp). Work that the coroutine begins inherits it. The earliest of several
// deadlines counts.
//
//   route's timeout ─┐
//   with_timeout() ──┼── current_deadline ── a call of the database or of the HTTP client
//   the call's own ──┘                       ends by the earliest of them
//
// Owns       nothing.
// Thread     its own: each thread has a current_deadline.
// Allocates  never.
// Fails      never.
// Invariant  a scope that ends restores the deadline that was current before it. Instants come from
//            the clock of the thread's reactor, and virtual time therefore works, too.
#pragma once

#include <utility>

#include "katana/base/values/instant.hpp"

namespace katana {

// The deadline of the work on this thread; `never`: there is none. Use a scope to change it.
inline constinit thread_local Instant current_deadline = never;

// Replaces the current deadline for the length of a block, for work that begins there.
class [[nodiscard]] DeadlineScope {
 public:
  explicit DeadlineScope(Instant deadline) noexcept
      : outer_(std::exchange(current_deadline, deadline)) {}
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;
  ~DeadlineScope() { current_deadline = outer_; }

  // A scope with the earlier of `deadline` and the current one, for a part of the work.
  static DeadlineScope earlier(Instant deadline) noexcept {
    return DeadlineScope(deadline < current_deadline ? deadline : current_deadline);
  }

 private:
  const Instant outer_;
};

// The time from `now` until the current deadline, at most `most` and at least one nanosecond. A
// callee that takes zero for "no limit" therefore still times out. A `most` of zero is no limit.
// The result is zero when there is neither a deadline nor a limit.
inline Duration time_left(Instant now, Duration most) noexcept {
  if (current_deadline == never) return most;
  Duration left = current_deadline - now;
  if (left < nanoseconds(1)) left = nanoseconds(1);
  return most > Duration{} && most < left ? most : left;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
