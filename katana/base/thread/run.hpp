// Run<F>: the awaitable of `co_await pool.run(f)`: runs f on a worker, then resumes the coroutine
// on its executor.
//
// Owns       half of the state that it shares with the job.
// Thread     the thread of the executor on which the coroutine runs and goes on. REQUIRES
//            Executor::current().
// Allocates  one piece of the recycler for callable and value, which the executor's thread takes
//            and gives back.
// Fails      as Future does: a Result, and exceptions of f are rethrown.
// Invariant  destroying the coroutine is safe at any time. A job that has not begun is then
//            cancelled. A running job finishes, and its outcome is dropped.
//
// g++ 12 destroys some temporaries of a co_await expression twice when the coroutine is destroyed
// there: lambdas and aggregates with a non-trivial destructor (decision 0018). Therefore run()
// takes directly only callables that are trivial to destroy; others do not compile. A lambda that
// captures a string or a shared_ptr gets a name first, and is passed by give():
//
//   auto job = [text = std::move(text)] { return parse(text); };
//   co_await pool.run(give(job));
//
// The word decides once whether the job or the coroutine ends first. A job that ends first posts a
// message to the executor. The message frees the state if the coroutine is gone when it arrives. A
// coroutine that is destroyed first leaves the state to the job. The job then posts nothing, and
// the executor may end before the job.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <stop_token>
#include <string_view>
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
  // The last access of the job.
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
  // Called when the coroutine is destroyed, on the executor's thread like arrive().
  void abandon() noexcept {
    if (waiting == nullptr) {  // resumed already: no other thread knows the state
      destroy(this);
      return;
    }
    waiting = nullptr;
    Executor& home = executor;  // the state may be gone right after the exchange
    if (word.exchange(abandoned, std::memory_order_acq_rel) == pending) home.unexpect();
  }

  // Two threads pass this object to each other. It is one cache line for small callables and
  // values.
  void (*destroy)(RunState*) noexcept;
  Executor& executor;
  const Waiting* waiting = nullptr;  // in the frame of the coroutine, until it is resumed or gone
  [[no_unique_address]] Outcome<Value> outcome;
  std::atomic<std::uint32_t> word = pending;
};

template <class F, class Token>
using RunCall = AwaitedCall<RunState<Yield<Returned<F>>>, F, Token>;

}  // namespace detail

// A reference to a named callable from which run() may move.
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
  using Value = Yield<Returned<F>>;  // the type of co_await: Result<T>, or T if T is a Result

  Run(Pool& pool, F&& f, RunOptions options, std::stop_token cancel)
      : pool_(pool), f_(std::move(f)), options_(options), cancel_(std::move(cancel)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (observer_ != nullptr) [[unlikely]]
      waiting_.run([this] { tell("cancelled"); });
    if (state_ != nullptr) state_->abandon();
  }

  bool await_ready() const noexcept { return false; }
  // False: the pool did not accept the job, and the coroutine goes on at once.
  bool await_suspend(std::coroutine_handle<> waiting);
  Value await_resume() {
    if (observer_ != nullptr) [[unlikely]]
      return take_observed();
    return state_->outcome.take();
  }

 private:
  template <class Token>
  bool suspend_with(Token token);
  void observe() noexcept;
  void tell(std::string_view error) noexcept;
  Value take_observed();

  Pool& pool_;
  F f_;
  RunOptions options_;
  std::stop_token cancel_;
  Waiting waiting_;
  detail::RunState<Value>* state_ = nullptr;
  RunObserver* observer_ = nullptr;  // null: no span is current, or it was told already
  Instant began_;                    // by its clock
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
