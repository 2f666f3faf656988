// with_timeout: a task that has so long, by the clock of its reactor. remaining_time: what is left.
//
//   Result<Quote> quote = co_await net::with_timeout(ask(peer), milliseconds(50));
//
// Calls of the database and of the HTTP client within it end by that time, too, and with an Error
// that says so; see base/coroutine/deadline.hpp.
//
// Owns       the task. When its time is over it is destroyed, which cancels what it waits for: a
//            call of a database or of the HTTP client ends with it.
// Thread     a reactor's.
// Allocates  the frames of two coroutines.
// Fails      Code::deadline_exceeded, which names the time it had. An exception of the task is
//            rethrown; the error of a Task<Result<T>> is given. Throws std::logic_error where
//            no reactor is.
// Invariant  a task that ends in the turn in which its time is over has ended in time when it ended
//            first.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::net {

namespace detail {

template <class T>
struct TimedResult {
  using Type = Result<T>;
};
template <class T>
struct TimedResult<Result<T>> {
  using Type = Result<T>;
};

inline Task<void> sleep_task(Duration duration) { co_await sleep_for(duration); }

// For the reactor's clock; never: no limit, or no reactor.
inline Instant end_of(Duration timeout) noexcept {
  const Reactor* const reactor = Reactor::current();
  if (reactor == nullptr || timeout >= never - reactor->now()) return never;
  return reactor->now() + timeout;
}

// The task begins with its deadline, so that what it calls knows how much time there is.
template <class T>
class TimedTask {
 public:
  TimedTask(Task<T>&& task, Duration timeout)
      : deadline_(end_of(timeout)), first_(std::move(task), sleep_task(timeout)) {}
  bool await_ready() {
    const DeadlineScope time = DeadlineScope::earlier(deadline_);
    return first_.await_ready();
  }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { first_.await_suspend(waiting); }
  auto await_resume() { return first_.await_resume(); }

 private:
  const Instant deadline_;
  katana::detail::AnyOfTuple<T, void> first_;
};

}  // namespace detail

// What is left for the coroutine that runs: of its route's timeout, or of a with_timeout() that it
// is within. None: no limit, or no reactor.
inline std::optional<Duration> remaining_time() noexcept {
  const Reactor* const reactor = Reactor::current();
  if (reactor == nullptr || current_deadline == never) return std::nullopt;
  return std::max(current_deadline - reactor->now(), Duration{});
}

template <class T>
Task<typename detail::TimedResult<T>::Type> with_timeout(Task<T> task, Duration timeout) {
  detail::TimedTask<T> timed(std::move(task), timeout);
  auto first = co_await timed;
  if (first.index() == 1) {
    co_return fail(Code::deadline_exceeded,
                   fmt::format("not done within {} ms", milliseconds_of(timeout)));
  }
  if constexpr (std::is_void_v<T>) {
    co_return {};
  } else {
    co_return std::get<0>(std::move(first));
  }
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
