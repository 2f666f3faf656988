// Job: a callable with its type erased, small enough to lie in a queue.
//
// Owns       the callable. Exactly one call of act() ends the job and destroys the callable.
// Thread     a value; act() runs where it is called.
// Allocates  nothing for a callable that is trivially copyable and has at most payload_bytes; a
//            piece of the recycler for any other.
// Fails      Order::run lets the exception of a detached callable out, after destroying it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "katana/base/memory/recycler.hpp"

namespace katana::thread {

// The order for act(): call the callable, or only destroy it.
enum class Order : std::uint8_t { run, cancel };
// The result of act(): the callable ran, it threw, or it was only destroyed.
enum class Ended : std::uint8_t { ran, failed, cancelled };

struct Job {
  static constexpr std::size_t payload_bytes = 24;    // largest callable that lies in the job
  using Act = Ended (*)(void* payload, Order order);  // rethrows for a detached callable

  Act act = nullptr;                                 // null: the job is empty
  alignas(8) std::byte payload[payload_bytes] = {};  // the callable, or a pointer to it
};

// Makes an object in the recycler's memory; end() destroys it.
template <class T, class... Arguments>
T* make_recycled(Arguments&&... arguments) {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "over-aligned: keep it in a box");
  void* const memory = recycler::allocate(sizeof(T));
  try {
    return new (memory) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    recycler::release(memory, sizeof(T));
    throw;
  }
}
template <class T>
void end_recycled(T* object) noexcept {
  object->~T();
  recycler::release(object, sizeof(T));
}

// Calls `f`, with the token if `f` takes one.
template <class F, class Token>
decltype(auto) call_with(F& f, const Token& token) {
  if constexpr (std::is_invocable_v<F&, std::stop_token>) {
    return f(std::stop_token(token));
  } else {
    return f();
  }
}
// The return type of the callable, with or without a std::stop_token as argument.
template <class F>
using Returned = decltype(call_with(std::declval<F&>(), std::declval<const std::stop_token&>()));

namespace detail {

template <class F>
inline constexpr bool lies_in_job =
    std::is_trivially_copyable_v<F> && sizeof(F) <= Job::payload_bytes && alignof(F) <= 8;

// The stop token of a job that has none: it is never stopped.
struct NoToken {
  static constexpr bool stop_requested() noexcept { return false; }
  operator std::stop_token() const noexcept { return {}; }  // without an owner: never stopped
};

template <class F, class Token>
struct Box {
  F f;
  [[no_unique_address]] Token token = {};

  static Ended act(void* payload, Order order) {
    Box* box;
    std::memcpy(&box, payload, sizeof box);
    struct Ender {
      Box* box;
      ~Ender() { end_recycled(box); }
    } const ender{box};
    if (order == Order::cancel || box->token.stop_requested()) return Ended::cancelled;
    (void)call_with(box->f, box->token);
    return Ended::ran;
  }
};

template <class F>
Ended act_in_place(void* payload, Order order) {
  if (order == Order::cancel) return Ended::cancelled;
  (void)(*std::launder(reinterpret_cast<F*>(payload)))();
  return Ended::ran;
}

// A job whose payload is a pointer.
template <class T>
Job job_of(Job::Act act, T* object) noexcept {
  Job job;
  job.act = act;
  std::memcpy(job.payload, &object, sizeof object);
  return job;
}

}  // namespace detail

// A job that owns the callable.
template <class F>
Job make_job(F&& f) {
  using Callable = std::decay_t<F>;
  if constexpr (detail::lies_in_job<Callable>) {
    Job job;
    job.act = &detail::act_in_place<Callable>;
    new (job.payload) Callable(std::forward<F>(f));
    return job;
  } else {
    using Boxed = detail::Box<Callable, detail::NoToken>;
    return detail::job_of(&Boxed::act, make_recycled<Boxed>(Callable(std::forward<F>(f))));
  }
}
// The same, with a token. If the token is asked to stop before the job begins, the job is
// cancelled.
template <class F>
Job make_job(F&& f, std::stop_token token) {
  using Boxed = detail::Box<std::decay_t<F>, std::stop_token>;
  return detail::job_of(&Boxed::act, make_recycled<Boxed>(std::forward<F>(f), std::move(token)));
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
