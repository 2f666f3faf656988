// run: runs a task on a reactor of the caller, for programs without a server, and for tests.
//
//   client::run(*reactor, http.fetch(client::Request(url)))
//
// Thread     the caller's, which is the reactor's thread until run() returns.
// Fails      rethrows an exception that leaves the task.
#pragma once

#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::client {

// REQUIRES that the reactor has started, and is not asked to stop.
template <class T>
T run(net::Reactor& reactor, Task<T> task) {
  reactor.turn(Duration{});  // makes it the current reactor of this thread
  task.start();
  while (!task.done()) {
    const Instant due = reactor.timers().next();
    reactor.turn(due == never ? seconds(3600) : due - reactor.now());
  }
  return task.result();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
