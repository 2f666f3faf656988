// IoThread: a Home with its own thread. It serves callers that have no reactor, and keeps
// a connection that shows the database's health.
//
// Owns       its thread, mailbox, timers, and an engine for its sockets, which has no links.
// Thread     create(), stop() and the destructor: one; post() any; the rest its own.
// Allocates  at its creation.
// Fails      create() returns the reason: no descriptor is left.
// Invariant  stop() returns when every message that was expected has run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "katana/base/coroutine/mailbox.hpp"
#include "katana/stores/database/postgres/home.hpp"

namespace katana::database::postgres {

class IoThread final : public Home, public Executor {
 public:
  // Does not begin the thread: start() does.
  static katana::Result<std::unique_ptr<IoThread>> create();
  ~IoThread() override;

  // `last` runs on the thread before it ends, when it handles nothing else but messages.
  void start();
  void stop(std::function<void()> last);

  void post(Message& message) noexcept override;
  Executor& executor() noexcept override { return *this; }
  Instant now() const noexcept override;
  net::TimerWheel& timers() noexcept override { return timers_; }
  void defer(Message& message) noexcept override;
  katana::Result<void> watch(int socket, engine::Readiness wanted,
                             engine::Watcher& watcher) override;
  void unwatch(int socket) override;

 private:
  struct Waiter;
  explicit IoThread(std::unique_ptr<Waiter> waiter) noexcept;
  void run() noexcept;
  void turn(bool waits) noexcept;
  void run_messages() noexcept;

  const std::unique_ptr<Waiter> waiter_;
  Mailbox mailbox_;
  net::TimerWheel timers_;
  Message* first_deferred_ = nullptr;
  Message** deferred_end_ = &first_deferred_;
  std::uint64_t takes_ = 0;                    // how often the mailbox was emptied
  std::atomic<std::uint64_t> posts_done_ = 0;  // how often its first sender has left post()
  std::atomic<bool> stopping_ = false;
  std::function<void()> last_;
  std::thread thread_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
