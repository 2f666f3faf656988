// Run<F>: what `co_await pool.run(f)` awaits: f on a worker, then the coroutine where it was.
//
// Owns       half of the state that it shares with the job.
// Thread     the executor's on which the coroutine runs, which is where it goes on. REQUIRES
//            Executor::current().
// Allocates  one piece of the recycler for callable and value, taken and given by the executor's
//            thread.
// Fails      as Future does: a Result, and exceptions of f are rethrown.
// Invariant  destroying the coroutine is safe at any time. A job that has not begun is then
//            cancelled; one that runs finishes on its own, and its outcome is dropped.
//
// g++ 12 destroys some temporaries of a co_await expression twice when the coroutine is destroyed
// there: lambdas and aggregates that have something to destroy (decision 0018). Therefore what
// run() takes directly has nothing to destroy, and does not compile otherwise; a lambda that
// captures a string or a shared_ptr is named first, and given:
//
//   auto job = [text = std::move(text)] { return parse(text); };
//   co_await pool.run(give(job));
//
// The word decides between job and coroutine, once: a job that ends first posts a message to the
// executor, and that message frees the state if the coroutine is gone when it comes. A coroutine
// that is destroyed first leaves the state to the job, which then posts nothing, so the executor
// may end before the job does.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/thread/awaited_call.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/outcome.hpp"
#include "katana/base/thread/pool_options.hpp"

namespace katana::thread {

class Pool;

namespace detail {

template <class Value>
struct RunState : Message {
  enum : std::uint32_t { pending, posted, abandoned };

  RunState(void (*destroyer)(RunState*) noexcept, Executor& home) noexcept
      : Message(&RunState::arrive), destroy(destroyer), executor(home) {}

  bool unwanted() const noexcept { return word.load(std::memory_order_relaxed) == abandoned; }
  // The job's last touch.
  void complete() noexcept {
    // acq_rel: gives the outcome to the executor's thread, or takes the state over from it.
    if (word.exchange(posted, std::memory_order_acq_rel) == abandoned) {
      destroy(this);
    } else {
      executor.post(*this);
    }
  }
  static void arrive(Message& message) noexcept {
    auto& state = static_cast<RunState&>(message);
    state.executor.unexpect();
    if (state.waiting == nullptr) {
      state.destroy(&state);
    } else {
      std::exchange(state.waiting, nullptr)->resume();
    }
  }
  // The coroutine is destroyed. On the executor's thread, as arrive() is.
  void abandon() noexcept {
    if (waiting == nullptr) {  // resumed already: no other thread knows the state
      destroy(this);
      return;
    }
    waiting = nullptr;
    Executor& home = executor;  // the state may be gone right after the exchange
    if (word.exchange(abandoned, std::memory_order_acq_rel) == pending) home.unexpect();
  }

  // Two threads hand this to each other: with small callables and values it is one cache line.
  void (*destroy)(RunState*) noexcept;
  Executor& executor;
  const Waiting* waiting = nullptr;  // in the frame of the coroutine, until it is resumed or gone
  [[no_unique_address]] Outcome<Value> outcome;
  std::atomic<std::uint32_t> word = pending;
};

template <class F, class Token>
using RunCall = AwaitedCall<RunState<Yield<Returned<F>>>, F, Token>;

}  // namespace detail

// A callable that has a name, and that run() may move out of it.
template <class F>
struct Given {
  F* callable;  // moved from when the job is made
};
// Marks a callable that Run may move from; it must live until then.
template <class F>
Given<F> give(F& callable) noexcept {
  return {&callable};
}

template <class F>
class [[nodiscard]] Run {
 public:
  using Value = Yield<Returned<F>>;  // what co_await returns: Result<T>, or T if that is a Result

  Run(Pool& pool, F&& f, RunOptions options, std::stop_token cancel)
      : pool_(pool), f_(std::move(f)), options_(options), cancel_(std::move(cancel)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (state_ != nullptr) state_->abandon();
  }

  bool await_ready() const noexcept { return false; }
  // False: the pool did not accept the job, and the coroutine goes on at once.
  bool await_suspend(std::coroutine_handle<> waiting);
  Value await_resume() { return state_->outcome.take(); }

 private:
  template <class Token>
  bool suspend_with(Token token);

  Pool& pool_;
  F f_;
  RunOptions options_;
  std::stop_token cancel_;
  Waiting waiting_;
  detail::RunState<Value>* state_ = nullptr;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
