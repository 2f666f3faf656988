// Outcome<T>: the outcome of a job for its waiter. It is a value, an exception, or an Error with
// the reason why the job was not run.
//
// Owns       the callable; after its run, in the same memory, its value or its exception.
// Thread     one at a time; the word of the shared state tells which one.
// Allocates  nothing beyond the callable's own allocations.
// Fails      take() rethrows the exception of the callable; one that is not taken is reported.
//
// Yield<T> is the type that a waiter gets: Result<T>. For a callable that returns Result<U>, it is
// Result<U>, and not a Result in a Result.
#pragma once

#include <exception>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/job.hpp"
#include "katana/base/thread/unseen.hpp"

namespace katana::thread {

namespace detail {
template <class T>
struct YieldOf {
  using Type = Result<T>;
};
template <class T>
struct YieldOf<Result<T>> {
  using Type = Result<T>;
};
}  // namespace detail

// Result<T>; T itself if it is a Result.
template <class T>
using Yield = typename detail::YieldOf<std::remove_cvref_t<T>>::Type;

template <class Value>
class Outcome {
 public:
  Outcome() noexcept {}
  ~Outcome() {
    if (kind_ == Kind::value) std::destroy_at(&value_);
    if (kind_ == Kind::exception) std::destroy_at(&thrown_);
  }
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  // Calls f and stores its value or exception; destroys f. REQUIRES that there is no outcome yet.
  template <class F, class Token>
  Ended run(F& f, const Token& token) noexcept {
    try {
      if constexpr (std::is_void_v<Returned<F>>) {
        call_with(f, token);
        return set(Value(), Ended::ran);
      } else {
        return set(Value(call_with(f, token)), Ended::ran);
      }
    } catch (...) {
      std::construct_at(&thrown_, std::current_exception());
      kind_ = Kind::exception;
      return Ended::failed;
    }
  }
  // Stores the reason why the job was not run.
  Ended refuse(Error error) noexcept {
    return set(Value(std::unexpected(std::move(error))), Ended::cancelled);
  }
  // Returns the outcome, once. Rethrows the exception of the callable.
  Value take() {
    KATANA_CHECK(kind_ != Kind::none);
    if (kind_ == Kind::exception) thrown_.rethrow();
    return std::move(value_);
  }

 private:
  enum class Kind : std::uint8_t { none, value, exception };

  Ended set(Value&& value, Ended ended) {
    std::construct_at(&value_, std::move(value));
    kind_ = Kind::value;
    return ended;
  }

  union {
    Value value_;
    detail::Thrown thrown_;
  };
  Kind kind_ = Kind::none;  // the last member: the holder may use the rest of its word
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
