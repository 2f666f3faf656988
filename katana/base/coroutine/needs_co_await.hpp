// NeedsCoAwait: the base of awaitables whose result is a Result. Code that forgets co_await does
// not compile, and the compiler's message says what is missing.
//
//   auto user = db.query_one<User>("…");        // no co_await
//   if (!user) …                                // error: … write co_await before the call
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      by a static assertion where one of its functions is called.
// Invariant  it changes nothing of code that compiles: none of its functions can be called.
#pragma once

namespace katana {

namespace detail {
// Depends on a template parameter, so that only a call fails.
template <class T>
inline constexpr bool has_result = false;
}  // namespace detail

struct NeedsCoAwait {
  template <class T = void>
  bool operator!() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
    return false;
  }
  template <class T = void>
  explicit operator bool() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
    return false;
  }
  template <class T = void>
  T* operator->() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
    return nullptr;
  }
  template <class T = void>
  void operator*() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
  }
  // As that of a Result.
  template <class T = void>
  void value() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
  }
  // As that of a Result.
  template <class T = void>
  void error() const {
    static_assert(detail::has_result<T>, "there is no result yet: write co_await before the call");
  }
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
