// spawn: starts work that outlives the request, on the same reactor. sleep_unless_draining: the
// pause of a loop that ends with the program.
//
//   router.post("/orders", [&](Json<Order> order) -> Task<Result<Reply>> {
//     …
//     if (auto spawned = net::spawn(notify(order->id), "notify"); !spawned) …
//     co_return Reply::no_content();               // the client does not wait for notify()
//   });
//
//   Task<void> poll() {
//     while (co_await net::sleep_unless_draining(seconds(30))) co_await look();
//   }
//
// A task is no part of the request that spawned it: ReactorOptions::tasks_max is its limit. A task
// with the RequestLease of a handler (http/handlers/parameters.hpp) counts as its request until it
// ends.
//
// Owns       nothing: the task is its reactor's (Reactor::tasks(), a TaskScope).
// Thread     a reactor's.
// Allocates  as TaskScope does.
// Fails      as TaskScope does. Throws std::logic_error, with a remedy, where no reactor is.
// Invariant  a draining reactor ends after its tasks have ended, too; unfinished ones are cancelled
//            at the drain deadline.
#pragma once

#include <string>
#include <utility>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::net {

namespace detail {

inline Reactor& reactor_to_spawn_on() {
  Reactor* const reactor = Reactor::current();
  if (reactor == nullptr) [[unlikely]] {
    throw_misuse("net::spawn() was called on a thread without a reactor",
                 "call it in a handler or another coroutine that a reactor runs; elsewhere take "
                 "Application::spawn(), or Pool::post()");
  }
  return *reactor;
}

inline Task<void> sleep_fully(Duration duration) { co_await sleep_for(duration); }
inline Task<void> until_draining() { co_await Reactor::current()->drain_begun().wait(); }

}  // namespace detail

// Runs the task to its first suspension. `name` is for the report of its failure.
[[nodiscard]] inline Result<void> spawn(Task<void> task, std::string name = {}) {
  return detail::reactor_to_spawn_on().tasks().spawn(std::move(task), std::move(name));
}
[[nodiscard]] inline Result<void> spawn(Task<Result<void>> task, std::string name = {}) {
  return detail::reactor_to_spawn_on().tasks().spawn(std::move(task), std::move(name));
}

// Pauses. Returns false, at once, when the reactor drains.
inline Task<bool> sleep_unless_draining(Duration duration) {
  (void)detail::reactor_to_spawn_on();
  const auto first = co_await when_any(detail::sleep_fully(duration), detail::until_draining());
  co_return first.index() == 0 && !Reactor::current()->draining();
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
