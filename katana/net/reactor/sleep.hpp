// sleep_for: a coroutine's pause, by the clock of its reactor.
//
//   co_await net::sleep_for(milliseconds(250));
//
// Owns       a timer entry in the frame of the waiting coroutine. It leaves the wheel with the
//            frame: destroying the coroutine cancels its pause.
// Thread     a reactor's.
// Allocates  never.
// Fails      throws std::logic_error, with a remedy, where no reactor is: on a thread of a pool, or
//            of the program.
// Invariant  the coroutine goes on in the first turn at or after its time, never before it. The
//            pause begins when it is awaited, not when the turn began. TimerWheel rounds it up: by
//            at most 1/16 ms if it is shorter than 64 ms. A pause of zero does not suspend.
#pragma once

#include <coroutine>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::net {

// The awaitable of `co_await sleep_for(…)`.
class [[nodiscard]] Sleep final : private TimerEntry {
 public:
  explicit Sleep(Duration duration) noexcept : TimerEntry(&Sleep::go_on), duration_(duration) {}

  bool await_ready() const noexcept { return duration_ <= Duration{}; }
  void await_suspend(std::coroutine_handle<> waiting) {
    Reactor* const reactor = Reactor::current();
    if (reactor == nullptr) [[unlikely]] {
      throw_misuse("net::sleep_for() was awaited on a thread without a reactor",
                   "await it in a handler or another coroutine that a reactor runs; a job on a "
                   "pool uses Pool::after() for what comes later");
    }
    waiting_ = waiting;
    const Instant now = reactor->read_clock();
    reactor->timers().arm(*this, duration_ < never - now ? now + duration_ : never);
  }
  void await_resume() const noexcept {}

 private:
  static void go_on(TimerEntry& entry) noexcept { static_cast<Sleep&>(entry).waiting_.resume(); }

  Duration duration_;
  Waiting waiting_;
};

[[nodiscard]] inline Sleep sleep_for(Duration duration) noexcept { return Sleep(duration); }

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
