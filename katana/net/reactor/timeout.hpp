// with_timeout: a task with a timeout, by the clock of its reactor. remaining_time: the time left.
//
//   Result<Quote> quote = co_await net::with_timeout(ask(server), milliseconds(50));
//
// Calls of the database and of the HTTP client within it end by that time, too, with an Error that
// says so; see base/coroutine/deadline.hpp.
//
// Owns       the task. A timeout destroys it and so cancels its pending calls: a call of a database
//            or of the HTTP client ends with it.
// Thread     a reactor's.
// Allocates  the frames of two coroutines.
// Fails      Code::deadline_exceeded, which names the timeout. An exception of the task is
//            rethrown; the error of a Task<Result<T>> is returned. Throws std::logic_error where no
//            reactor is.
// Invariant  a task that ends in the turn of its deadline is in time if it ends before the deadline
//            fires.
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

// The deadline by the reactor's clock; never: no limit, or no reactor.
inline Instant end_of(Duration timeout) noexcept {
  const Reactor* const reactor = Reactor::current();
  if (reactor == nullptr || timeout >= never - reactor->now()) return never;
  return reactor->now() + timeout;
}

// The task begins with its deadline: its calls know how much time they have.
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
  // Without the timeout, which is no work.
  void visit_tasks(TaskVisitor& visitor) const { (void)visitor.visit(first_.first_state()); }

 private:
  const Instant deadline_;
  katana::detail::AnyOfTuple<T, void> first_;
};

}  // namespace detail

// The time left for the running coroutine, from its route's timeout or an enclosing with_timeout().
// None: no limit, or no reactor.
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
