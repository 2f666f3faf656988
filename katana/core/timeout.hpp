// with_timeout: a task that has so long, by the clock of its reactor.
//
//   Result<Quote> quote = co_await core::with_timeout(ask(peer), milliseconds(50));
//
// Owns       the task. When its time is over it is destroyed, which cancels what it waits for: a
//            call of a database or of the HTTP client ends with it.
// Thread     a reactor's.
// Allocates  the frames of two coroutines.
// Fails      Code::deadline_exceeded, which names the time it had. What the task throws is
//            rethrown, and of a Task<Result<T>> the error is given. Throws std::logic_error where
//            no reactor is.
// Invariant  a task that ends in the turn in which its time is over has ended in time when it ended
//            first.
#pragma once

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "katana/base/result.hpp"
#include "katana/base/task.hpp"
#include "katana/base/when.hpp"
#include "katana/core/sleep.hpp"

namespace katana::core {

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

}  // namespace detail

template <class T>
Task<typename detail::TimedResult<T>::Type> with_timeout(Task<T> task, Duration timeout) {
  auto first = co_await when_any(std::move(task), detail::sleep_task(timeout));
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

}  // namespace katana::core
