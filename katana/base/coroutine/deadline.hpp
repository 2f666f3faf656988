// Deadline: when what runs on this thread has to be done. It travels: a coroutine that is suspended
// keeps it (Waiting, activity.hpp), what it begins inherits it, and of several the earliest holds.
//
//   route's timeout ─┐
//   with_timeout() ──┼── current_deadline ── a call of the database or of the HTTP client
//   the call's own ──┘                       ends by the earliest of them
//
// Owns       nothing.
// Thread     its own: each has a current_deadline.
// Allocates  never.
// Fails      never.
// Invariant  a scope that ends restores what was current before it. Instants are those of the
//            thread's reactor, so virtual time is right, too.
#pragma once

#include <algorithm>
#include <utility>

#include "katana/base/values/instant.hpp"

namespace katana {

// The deadline of what this thread runs. never: there is none. Use a scope to change it.
inline constinit thread_local Instant current_deadline = never;

// This deadline and no other, for the length of a block: of work that begins here.
class [[nodiscard]] DeadlineScope {
 public:
  explicit DeadlineScope(Instant deadline) noexcept
      : outer_(std::exchange(current_deadline, deadline)) {}
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;
  ~DeadlineScope() { current_deadline = outer_; }

  // The earlier one of `deadline` and what is current: for a part of the work.
  static DeadlineScope earlier(Instant deadline) noexcept {
    return DeadlineScope(std::min(deadline, current_deadline));
  }

 private:
  const Instant outer_;
};

// The time that is left at `now`, but no more than `most`; never less than a nanosecond, so that
// what takes zero for "no limit" is late instead. `most` of zero: no further limit, and zero
// when there is no deadline either.
inline Duration time_left(Instant now, Duration most) noexcept {
  if (current_deadline == never) return most;
  const Duration left = std::max(current_deadline - now, nanoseconds(1));
  return most > Duration{} ? std::min(most, left) : left;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
