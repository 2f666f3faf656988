// Synchronization of coroutines that run on one thread.
//
//   AsyncEvent       set() lets all waiting coroutines go on, and later ones too, until reset()
//   AsyncSemaphore   `co_await semaphore.acquire()` takes one of so many permits and gives it back
//                    when the permit is destroyed
//   AsyncMutex       a semaphore of one
//   AsyncChannel<T>  values from some coroutines to others, at most `capacity` at a time
//
// Owns       nothing of the waiting coroutines. A coroutine that is destroyed leaves its queue. A
//            permit or a value that was meant for it goes to the next waiter.
// Thread     one: that of the executor (a reactor, or thread::Loop) on which all of them run.
// Allocates  AsyncChannel its values, up to its capacity.
// Fails      never. The objects outlive the coroutines that wait for them.
// Invariant  first come, first served. A waiter is resumed when the rest of the turn is done, not
//            within the call that releases it. No call therefore runs the code of a waiter.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/misuse.hpp"

namespace katana {

// A coroutine in a queue. The object lies in the coroutine's frame.
class QueuedWaiter : private Message, private ListHook<QueuedWaiter> {
 public:
  using Queue = LinkedList<QueuedWaiter>;  // first come, first served
  QueuedWaiter(const QueuedWaiter&) = delete;
  QueuedWaiter& operator=(const QueuedWaiter&) = delete;

  // Releases the first waiter; it resumes after the rest of the turn. REQUIRES a waiter.
  static void let_on(Queue& queue) noexcept {
    QueuedWaiter& first = queue.pop_front();
    first.queue_ = nullptr;
    first.let_on_ = true;
    first.executor_->at_turn_end(first);
  }

 protected:
  QueuedWaiter() noexcept : Message(&QueuedWaiter::go_on) {}
  ~QueuedWaiter() {
    if (queue_ != nullptr) queue_->remove(*this);
    if (is_let_on()) executor_->forget_at_turn_end(*this);
  }

  // Queues the coroutine; it resumes on its executor. Throws without an executor.
  void wait_in(Queue& queue, std::coroutine_handle<> waiting) {
    executor_ = Executor::current();
    if (executor_ == nullptr) [[unlikely]] {
      throw_misuse("a coroutine waits for another on a thread without an executor",
                   "run both on one reactor, or by one thread::Loop");
    }
    waiting_ = waiting;
    queue_ = &queue;
    queue.push_back(*this);
  }
  // The waiter was released and has not resumed: its permit or value is unused.
  bool is_let_on() const noexcept { return let_on_; }

 private:
  friend class LinkedList<QueuedWaiter>;
  static void go_on(Message& message) noexcept {
    auto& self = static_cast<QueuedWaiter&>(message);
    self.let_on_ = false;
    const Waiting waiting = self.waiting_;  // the frame may end with it
    waiting.resume();
  }

  Queue* queue_ = nullptr;
  Executor* executor_ = nullptr;
  bool let_on_ = false;
  Waiting waiting_;
};

// A flag that coroutines wait for.
class AsyncEvent {
 public:
  AsyncEvent() noexcept = default;
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;
  ~AsyncEvent() { KATANA_REQUIRE(queue_.empty()); }

  bool is_set() const noexcept { return set_; }  // true from set() to reset()
  // Resumes all waiters at the end of the turn. Later calls of wait() do not suspend.
  void set() noexcept {
    set_ = true;
    while (!queue_.empty()) QueuedWaiter::let_on(queue_);
  }
  void reset() noexcept { set_ = false; }  // later calls of wait() suspend again

  // The awaitable that wait() returns.
  class [[nodiscard]] Waiter : public QueuedWaiter {
   public:
    explicit Waiter(AsyncEvent& event) noexcept : event_(event) {}
    bool await_ready() const noexcept { return event_.set_; }
    void await_suspend(std::coroutine_handle<> waiting) { wait_in(event_.queue_, waiting); }
    void await_resume() const noexcept {}

   private:
    AsyncEvent& event_;
  };
  Waiter wait() noexcept { return Waiter(*this); }  // awaited at most once

 private:
  QueuedWaiter::Queue queue_;
  bool set_ = false;
};

// Limits how many coroutines do something at once.
class AsyncSemaphore {
 public:
  explicit AsyncSemaphore(std::size_t permits) noexcept : permits_(permits) {}
  AsyncSemaphore(const AsyncSemaphore&) = delete;
  AsyncSemaphore& operator=(const AsyncSemaphore&) = delete;
  ~AsyncSemaphore() { KATANA_REQUIRE(queue_.empty()); }

  // Holds one permit and gives it back when it is destroyed.
  class [[nodiscard]] Permit {
   public:
    Permit(Permit&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(semaphore_, other.semaphore_);
      return *this;
    }
    ~Permit() {
      if (semaphore_ != nullptr) semaphore_->release();
    }

    // Keeps the permit out of use; release() makes another one.
    void keep() noexcept { semaphore_ = nullptr; }

   private:
    friend class AsyncSemaphore;
    explicit Permit(AsyncSemaphore& semaphore) noexcept : semaphore_(&semaphore) {}
    AsyncSemaphore* semaphore_;
  };

  // The awaitable that acquire() returns.
  class [[nodiscard]] Acquire : public QueuedWaiter {
   public:
    explicit Acquire(AsyncSemaphore& semaphore) noexcept : semaphore_(semaphore) {}
    ~Acquire() {
      if (is_let_on()) semaphore_.release();
    }
    bool await_ready() noexcept {
      if (semaphore_.permits_ == 0) return false;
      --semaphore_.permits_;
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiting) { wait_in(semaphore_.queue_, waiting); }
    Permit await_resume() const noexcept { return Permit(semaphore_); }

   private:
    AsyncSemaphore& semaphore_;
  };
  // Resumes with a Permit. An Acquire that is destroyed early gives its permit back.
  Acquire acquire() noexcept { return Acquire(*this); }
  // Empty when no permit is left, or others wait.
  std::optional<Permit> try_acquire() noexcept {
    if (permits_ == 0) return std::nullopt;
    --permits_;
    return Permit(*this);
  }
  // Adds a permit. It goes directly to the first waiter: a later caller cannot overtake it.
  void release() noexcept {
    if (queue_.empty()) {
      ++permits_;
    } else {
      QueuedWaiter::let_on(queue_);
    }
  }
  // The number of free permits; none is free while a coroutine waits.
  std::size_t permits() const noexcept { return permits_; }
  std::size_t waiting() const noexcept { return queue_.size(); }

 private:
  QueuedWaiter::Queue queue_;
  std::size_t permits_;
};

// A section that one coroutine at a time may enter. The coroutine may suspend inside it.
class AsyncMutex {
 public:
  using Lock = AsyncSemaphore::Permit;  // unlocks when it is destroyed
  AsyncSemaphore::Acquire lock() noexcept { return semaphore_.acquire(); }  // resumes with a Lock
  // Empty: the mutex is locked, or others wait.
  std::optional<Lock> try_lock() noexcept { return semaphore_.try_acquire(); }

 private:
  AsyncSemaphore semaphore_{1};
};

// Hands values from one coroutine to another. It holds `capacity` values; send() waits for room.
template <class T>
class AsyncChannel {
 public:
  // REQUIRES a capacity of one at least.
  explicit AsyncChannel(std::size_t capacity) : free_(capacity), taken_(0) {
    KATANA_REQUIRE(capacity > 0);
  }

  // Waits for room. False: the channel is closed, and the value is dropped.
  Task<bool> send(T value) {
    AsyncSemaphore::Permit room = co_await free_.acquire();
    if (closed_) co_return false;
    values_.push_back(std::move(value));
    room.keep();
    taken_.release();
    co_return true;
  }
  // Waits for a value. Empty: the channel is closed, and all its values were received.
  Task<std::optional<T>> receive() {
    AsyncSemaphore::Permit one = co_await taken_.acquire();
    if (values_.empty()) co_return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    one.keep();
    free_.release();
    co_return value;
  }
  // Refuses further values. Values that the channel holds can still be received.
  void close() noexcept {
    if (std::exchange(closed_, true)) return;
    // Each waiter finds the channel closed and passes this permit on to the next.
    free_.release();
    taken_.release();
  }
  bool is_closed() const noexcept { return closed_; }
  std::size_t size() const noexcept { return values_.size(); }

 private:
  AsyncSemaphore free_;   // a permit for each free place
  AsyncSemaphore taken_;  // a permit for each value
  std::deque<T> values_;
  bool closed_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
