// Waker: tells a coroutine of one executor, from any thread, that there may be work to do.
//
// Owns       itself, while a message of it is on its way.
// Borrows    the executor and the event, from attach() to detach().
// Thread     attach(), detach(): the executor's. wake(): any.
// Allocates  never.
// Fails      never: without an executor wake() does nothing.
// Invariant  one message at most is on its way; it also stands for wakes that come meanwhile.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/synchronization.hpp"

namespace katana::queue {

class Waker final : private Message, public std::enable_shared_from_this<Waker> {
 public:
  Waker() noexcept : Message(&Waker::arrive) {}
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // From here on a wake sets `woken` and the event, in a turn of the executor.
  void attach(Executor& executor, AsyncEvent& event, bool& woken) {
    const std::lock_guard lock(mutex_);
    executor_ = &executor;
    event_ = &event;
    woken_ = &woken;
  }
  // Nothing is touched after it; a message that is on its way does nothing.
  void detach() noexcept {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
    event_ = nullptr;
    woken_ = nullptr;
  }
  // Posts to the executor, unless a message is on its way.
  void wake() noexcept {
    const std::lock_guard lock(mutex_);
    if (executor_ == nullptr || kept_ != nullptr) return;
    kept_ = shared_from_this();
    executor_->post(*this);
  }

 private:
  static void arrive(Message& message) noexcept {
    auto& self = static_cast<Waker&>(message);
    std::shared_ptr<Waker> kept;  // destroyed behind the lock
    const std::lock_guard lock(self.mutex_);
    kept = std::exchange(self.kept_, nullptr);
    if (self.event_ == nullptr) return;
    *self.woken_ = true;
    self.event_->set();
  }

  std::mutex mutex_;  // guards what follows
  Executor* executor_ = nullptr;
  AsyncEvent* event_ = nullptr;
  bool* woken_ = nullptr;
  std::shared_ptr<Waker> kept_;  // a message is on its way
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
