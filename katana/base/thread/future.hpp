// Future<T>: the result of a job on a pool, for a thread that waits for it.
//
//   Future<int> answer = pool.submit([] { return 42; });
//   Result<int> result = answer.get();
//
// Owns       half of the state that it shares with the job; the last of the two destroys it.
//            Dropping a future does not cancel its job.
// Thread     one at a time; the job may end on any other.
// Allocates  one piece of the recycler for callable, state and value together.
// Fails      get() returns Code::cancelled when the job was cancelled before it began. It returns
//            resource_exhausted when the queue was full, and unavailable when the pool was stopped.
//            It rethrows the exception of the callable. An unread outcome is reported (see
//            unseen.hpp).
// Invariant  get() returns when the job has ended, in whatever way: no accepted job is forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/futex.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/awaited_call.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/outcome.hpp"

namespace katana::thread {

class Pool;

namespace detail {

// Bits of the word that a future and its job share.
inline constexpr std::uint32_t done_bit = 1;     // the outcome is there; set by the job, once
inline constexpr std::uint32_t sleeper_bit = 2;  // a thread sleeps on the word
inline constexpr std::uint32_t gone_bit = 4;     // the future is gone: the job destroys the state
inline constexpr std::uint32_t cancel_bit = 8;   // a job that has not begun must not begin

[[noreturn]] KATANA_RARE void throw_wait_misuse();
[[noreturn]] KATANA_RARE void throw_run_misuse(bool without_executor);

template <class Value>
struct FutureState {
  explicit FutureState(void (*destroyer)(FutureState*) noexcept) noexcept : destroy(destroyer) {}

  // Two threads pass this object to each other. It is one cache line for small callables and
  // values.
  void (*destroy)(FutureState*) noexcept;
  [[no_unique_address]] Outcome<Value> outcome;
  FutexWord word = 0;

  bool unwanted() const noexcept {
    return (word.load(std::memory_order_relaxed) & cancel_bit) != 0;
  }
  // The last access of the job: after this the future may destroy the state at any moment.
  void complete() noexcept {
    // acq_rel: publishes the outcome, and sees what the future did before it was destroyed.
    const std::uint32_t before = word.fetch_or(done_bit, std::memory_order_acq_rel);
    if ((before & gone_bit) != 0) {
      destroy(this);
    } else if ((before & sleeper_bit) != 0) {
      futex_wake(&word, 1);
    }
  }
};

template <class F, class Token>
using FutureCall = AwaitedCall<FutureState<Yield<Returned<F>>>, F, Token>;

}  // namespace detail

template <class T>
class [[nodiscard]] Future {
 public:
  using Value = Yield<T>;  // what get() and co_await return: Result<T>, or T if that is a Result

  Future(Future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Future& operator=(Future&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Future() {
    if (state_ == nullptr) return;
    // A plain load first: if the job has ended, no locked instruction is needed.
    if (ready() ||
        (state_->word.fetch_or(detail::gone_bit, std::memory_order_acq_rel) & detail::done_bit)) {
      state_->destroy(state_);
    }
  }

  // True once the job has ended, run or not; never blocks.
  bool ready() const noexcept {
    return (state_->word.load(std::memory_order_acquire) & detail::done_bit) != 0;
  }
  // Blocks until the job has ended. On a reactor, which would stall its connections, it throws
  // std::logic_error instead: await Pool::run() there.
  void wait() const {
    if (!ready()) wait_long();
  }
  // Waits, then returns the outcome of the job. Call it once.
  Value get() {
    wait();
    return state_->outcome.take();
  }
  // Cancels a job that has not begun; its outcome is Code::cancelled. A running job goes on: give
  // it a stop token to stop it.
  void cancel() noexcept { state_->word.fetch_or(detail::cancel_bit, std::memory_order_relaxed); }

 private:
  friend class Pool;
  explicit Future(detail::FutureState<Value>* state) noexcept : state_(state) {}

  void wait_long() const {
    if (Executor::current() != nullptr) [[unlikely]]
      detail::throw_wait_misuse();
    // Spins for some microseconds, less than a sleep costs. It reads the word rarely: a thread that
    // waits for many futures in a row then does not disturb the worker at each of them.
    for (int round = 0; round < 16; ++round) {
      for (int pause = 0; pause < 16; ++pause) relax();
      if (ready()) return;
    }
    // Another thread, such as the worker, may need this CPU. After a yield it can finish all its
    // jobs. If this thread slept, a wake-up for one job would take the CPU from the worker again.
    for (int round = 0; round < 16; ++round) {
      std::this_thread::yield();
      if (ready()) return;
    }
    std::uint32_t seen = state_->word.fetch_or(detail::sleeper_bit, std::memory_order_acq_rel);
    while ((seen & detail::done_bit) == 0) {
      futex_wait(state_->word, seen | detail::sleeper_bit);
      seen = state_->word.load(std::memory_order_acquire);
    }
  }

  detail::FutureState<Value>* state_;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
