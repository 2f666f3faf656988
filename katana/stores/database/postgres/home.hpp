// Home: the thread of a pool's connections: a reactor, or the backend's own thread for callers that
// have no reactor.
//
// Owns       its Poller, and the buffers of its connections.
// Thread     its own, but for executor().post().
// Allocates  at its creation, and the buffers at their first use.
// Fails      never.
// Invariant  now() is the time of the turn.
#pragma once

#include <memory>
#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/database/postgres/link_memory.hpp"
#include "katana/stores/database/postgres/poller.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {

class Home {
 public:
  explicit Home(std::unique_ptr<Poller> poller) noexcept : poller_(std::move(poller)) {}
  virtual ~Home() = default;
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  virtual Executor& executor() noexcept = 0;       // for messages from other threads
  virtual Instant now() const noexcept = 0;        // of the turn; does not move within one
  virtual net::TimerWheel& timers() noexcept = 0;  // of the thread; for timeouts of connections
  // Runs the message after the present event, without a system call. Called on its thread only.
  virtual void defer(Message& message) noexcept = 0;

  LinkMemory& link_memory() noexcept { return link_memory_; }  // of this thread's connections
  // The parameters of the statement that is sent next. They are taken and sent without a pause.
  Arguments& arguments() noexcept { return arguments_; }
  Poller& poller() noexcept { return *poller_; }  // sockets of this thread's connections
  // Whether the caller is on this thread.
  bool is_here() noexcept { return Executor::current() == &executor(); }

 private:
  std::unique_ptr<Poller> poller_;
  LinkMemory link_memory_;
  Arguments arguments_;
};

// The Home of a reactor.
class ReactorHome final : public Home, private engine::Watcher {
 public:
  // Called on the reactor's thread. Fails if epoll has no descriptor left.
  static katana::Result<std::unique_ptr<Home>> create(net::Reactor& reactor) {
    auto poller = Poller::create();
    if (!poller) return std::unexpected(poller.error());
    std::unique_ptr<ReactorHome> home(new ReactorHome(reactor, *std::move(poller)));
    if (auto watched = reactor.watch(home->poller().descriptor(), {.read = true}, *home);
        !watched) {
      return std::unexpected(watched.error());
    }
    home->watched_ = true;
    return home;
  }
  ~ReactorHome() override {
    if (watched_) reactor_.unwatch(poller().descriptor());
  }

  Executor& executor() noexcept override { return reactor_; }
  Instant now() const noexcept override { return reactor_.now(); }
  net::TimerWheel& timers() noexcept override { return reactor_.timers(); }
  void defer(Message& message) noexcept override { reactor_.defer(message); }

 private:
  ReactorHome(net::Reactor& reactor, std::unique_ptr<Poller> poller) noexcept
      : Home(std::move(poller)), reactor_(reactor) {}
  void on_ready(engine::Readiness) noexcept override { poller().dispatch(0); }

  net::Reactor& reactor_;
  bool watched_ = false;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
