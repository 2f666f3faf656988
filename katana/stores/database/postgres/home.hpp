// Home: the thread of a pool's connections: a reactor, or the backend's own thread for callers that
// have no reactor.
//
// Owns       the buffers of its connections.
// Borrows    watchers, until unwatch().
// Thread     its own, but for executor().post().
// Allocates  at its creation, and the buffers at their first use.
// Fails      watch() returns the reason.
// Invariant  now() is the time of the turn.
#pragma once

#include <cstdint>
#include <random>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/database/postgres/link_memory.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {

class Home {
 public:
  Home() = default;
  virtual ~Home() = default;
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  virtual Executor& executor() noexcept = 0;       // for messages from other threads
  virtual Instant now() const noexcept = 0;        // of the turn; does not move within one
  virtual net::TimerWheel& timers() noexcept = 0;  // of the thread; for timeouts of connections
  // Runs the message after the present event, without a system call. Called on its thread only.
  virtual void defer(Message& message) noexcept = 0;
  // Sockets of this thread's connections, as an engine watches descriptors; see engine.hpp.
  virtual katana::Result<void> watch(int socket, engine::Readiness wanted,
                                     engine::Watcher& watcher) = 0;
  virtual void unwatch(int socket) = 0;
  // Those of its reactor; null: there are none, or no reactor.
  virtual const net::Destinations* destinations() const noexcept { return nullptr; }
  // A seed for random numbers of this thread.
  virtual std::uint64_t draw_seed() { return std::random_device()(); }

  LinkMemory& link_memory() noexcept { return link_memory_; }  // of this thread's connections
  // The parameters of the statement that is sent next. They are taken and sent without a pause.
  Arguments& arguments() noexcept { return arguments_; }
  // Whether the caller is on this thread.
  bool is_here() noexcept { return Executor::current() == &executor(); }

 private:
  LinkMemory link_memory_;
  Arguments arguments_;
};

// The destinations of connections that have these options; null: the machine's network. Tests with
// a real server let the reactors of a simulated network reach it.
inline const net::Destinations* destinations_of(const Home& home, const Options& options) noexcept {
  return options.is_on_reactors_only ? home.destinations() : nullptr;
}

// The Home of a reactor: the reactor's engine watches the sockets.
class ReactorHome final : public Home {
 public:
  explicit ReactorHome(net::Reactor& reactor) noexcept : reactor_(reactor) {}

  Executor& executor() noexcept override { return reactor_; }
  Instant now() const noexcept override { return reactor_.now(); }
  net::TimerWheel& timers() noexcept override { return reactor_.timers(); }
  void defer(Message& message) noexcept override { reactor_.defer(message); }
  katana::Result<void> watch(int socket, engine::Readiness wanted,
                             engine::Watcher& watcher) override {
    return reactor_.watch(socket, wanted, watcher);
  }
  void unwatch(int socket) override { reactor_.unwatch(socket); }
  const net::Destinations* destinations() const noexcept override {
    return net::Destinations::of(reactor_);
  }
  std::uint64_t draw_seed() override { return net::Destinations::seed_for(reactor_); }

 private:
  net::Reactor& reactor_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
