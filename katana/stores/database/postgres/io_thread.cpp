#include "katana/stores/database/postgres/io_thread.hpp"

#include <pthread.h>

#include <algorithm>

#include "katana/base/system/quiet_thread.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"

namespace katana::database::postgres {

// The engine, and the sink that it has to have: without links it is never called.
struct IoThread::Waiter {
  bool on_accepted(engine::Link, engine::Listener, const engine::PeerEndpoint&) { return false; }
  void on_bytes(engine::Link, Bytes) {}
  void on_sent(engine::Link, std::size_t) {}
  void on_closed(engine::Link, engine::Closed) {}
  void on_accept_failed(engine::AcceptFailure) {}
  void on_turn(Instant) {}

  engine::EpollLevelEngine<Waiter> engine{{.links_max = 1, .receive_bytes_max = 1}, *this};
};

katana::Result<std::unique_ptr<IoThread>> IoThread::create() {
  auto waiter = std::make_unique<Waiter>();
  if (auto started = waiter->engine.start(); !started) return std::unexpected(started.error());
  return std::unique_ptr<IoThread>(new IoThread(std::move(waiter)));
}

IoThread::IoThread(std::unique_ptr<Waiter> waiter) noexcept
    : waiter_(std::move(waiter)), timers_(waiter_->engine.now()) {}

IoThread::~IoThread() {
  if (thread_.joinable()) stop([] {});
}

Instant IoThread::now() const noexcept { return waiter_->engine.now(); }

katana::Result<void> IoThread::watch(int socket, engine::Readiness wanted,
                                     engine::Watcher& watcher) {
  return waiter_->engine.watch(socket, wanted, watcher);
}

void IoThread::unwatch(int socket) { waiter_->engine.unwatch(socket); }

void IoThread::start() {
  thread_ = quiet_thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "db-postgres");
}

void IoThread::stop(std::function<void()> last) {
  last_ = std::move(last);
  stopping_.store(true, std::memory_order_release);
  waiter_->engine.wake();
  thread_.join();
}

void IoThread::post(Message& message) noexcept {
  if (mailbox_.post(message)) {
    waiter_->engine.wake();
    // release: the sender's last touch of this executor; see run().
    posts_done_.fetch_add(1, std::memory_order_release);
  }
}

void IoThread::defer(Message& message) noexcept {
  message.next = nullptr;
  *deferred_end_ = &message;
  deferred_end_ = &message.next;
}

void IoThread::run() noexcept {
  enter(this);
  while (!stopping_.load(std::memory_order_acquire)) turn(true);
  last_();
  // acquire: the posting thread has left post().
  while (expected() != 0 || posts_done_.load(std::memory_order_acquire) != takes_) turn(false);
  turn(false);
  enter(nullptr);
}

void IoThread::turn(bool waits) noexcept {
  constexpr Duration longest = seconds(60);
  Duration wait = waits ? longest : milliseconds(1);
  if (first_deferred_ != nullptr || mailbox_.has_messages()) {
    wait = Duration{};
  } else if (const Instant next = timers_.next(); waits && next != never) {
    wait = std::clamp(next - waiter_->engine.read_clock(), Duration{}, longest);
  }
  waiter_->engine.turn(wait);
  timers_.advance(now());
  run_messages();
  while (Message* const message = first_deferred_) {
    first_deferred_ = message->next;
    if (first_deferred_ == nullptr) deferred_end_ = &first_deferred_;
    message->run(*message);
  }
  end_turn();
}

void IoThread::run_messages() noexcept {
  Message* message = mailbox_.take_all();
  if (message != nullptr) ++takes_;
  while (message != nullptr) {
    Message* const next = message->next;
    message->run(*message);
    message = next;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
