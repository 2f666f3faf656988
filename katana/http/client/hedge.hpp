// FirstOf: waits for the first of two calls, or of one call and a pause.
//
//   co_await FirstOf(context, call, nullptr, milliseconds(50));   // done, or 50 ms have passed
//   co_await FirstOf(context, call, &second);                     // either is done
//
// Owns       a timer.
// Borrows    the calls, which were submitted, until it is resumed or destroyed.
// Thread     its reactor's.
// Allocates  never.
// Fails      never.
// Invariant  the coroutine resumes once, in the RunQueue; afterwards neither call resumes it.
#pragma once

#include <coroutine>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/http/client/run_queue.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::client {

class [[nodiscard]] FirstOf final : private Runnable, private net::TimerEntry {
 public:
  // A `pause` of zero: no pause ends the wait.
  FirstOf(ReactorContext& context, Call& first, Call* second, Duration pause = {}) noexcept
      : TimerEntry(&FirstOf::on_timer),
        context_(context),
        first_(first),
        second_(second),
        pause_(pause) {}

  bool await_ready() const noexcept {
    return first_.ready() || (second_ != nullptr && second_->ready());
  }
  void await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    first_.await_suspend(waiting);
    if (second_ != nullptr) second_->await_suspend(waiting);
    net::Reactor& reactor = context_.reactor();
    if (pause_ > Duration{}) reactor.timers().arm(*this, reactor.now() + pause_);
  }
  void await_resume() noexcept {
    first_.stop_waiting();
    if (second_ != nullptr) second_->stop_waiting();
  }

 private:
  void run() noexcept override { std::exchange(waiting_, Waiting()).resume(); }
  static void on_timer(TimerEntry& entry) noexcept {
    auto& self = static_cast<FirstOf&>(entry);
    self.context_.queue().resume_later(self);
  }

  ReactorContext& context_;
  Call& first_;
  Call* const second_;
  const Duration pause_;
  Waiting waiting_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
