// run: a task on a reactor that nobody else turns: programs without a server, and tests.
//
//   client::run(*reactor, http.fetch(client::Request(url)))
//
// Thread     the caller's, which becomes the reactor's for as long.
// Fails      rethrows what left the task.
#pragma once

#include <utility>

#include "katana/base/task.hpp"
#include "katana/core/reactor.hpp"

namespace katana::client {

// REQUIRES that the reactor has started, and that nobody asks it to stop.
template <class T>
T run(core::Reactor& reactor, Task<T> task) {
  reactor.turn(Duration{});  // the reactor of this thread from here on
  task.start();
  while (!task.done()) {
    const Instant due = reactor.timers().next();
    reactor.turn(due == never ? seconds(3600) : due - reactor.now());
  }
  return task.result();
}

}  // namespace katana::client
