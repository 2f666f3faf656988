// AwaitedCall: a job with a waiter. It has the state that the job shares with its waiter, and
// behind it the callable and the stop token.
//
// Owns       callable, token, and by its base the outcome.
// Thread     act() on the worker; then the thread that the state's word names.
// Allocates  nothing; it is made by make_recycled().
// Fails      as Outcome does; a job without a waiting caller becomes Code::cancelled.
// Invariant  State::complete() is the last access of act(): after it the waiter may destroy the
//            object.
//
// A State has `outcome`, unwanted() (no caller waits any more), complete(), and a constructor whose
// first argument destroys the call.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/outcome.hpp"

namespace katana::thread::detail {

template <class State, class F, class Token>
struct AwaitedCall final : State {
  template <class... Arguments>
  AwaitedCall(F&& callable, Token stop, Arguments&... arguments)
      : State(&destroy_this, arguments...), token(std::move(stop)) {
    std::construct_at(&f, std::move(callable));
  }
  ~AwaitedCall() {}  // the callable is destroyed by act(), or by the code that could not queue it

  static void destroy_this(State* state) noexcept {
    end_recycled(static_cast<AwaitedCall*>(state));
  }

  static Ended act(void* payload, Order order) {
    AwaitedCall* call;
    std::memcpy(&call, payload, sizeof call);
    Ended ended;
    if (order == Order::cancel || call->unwanted() || call->token.stop_requested()) {
      ended = call->outcome.refuse(Error(Code::cancelled));
    } else {
      ended = call->outcome.run(call->f, call->token);
    }
    std::destroy_at(&call->f);
    call->complete();
    return ended;
  }

  [[no_unique_address]] Token token;
  union {
    F f;
  };
};

}  // namespace katana::thread::detail

// SPDX-License-Identifier: Apache-2.0
