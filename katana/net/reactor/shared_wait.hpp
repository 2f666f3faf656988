// SharedWait: a coroutine that waits for what any thread may do: the end of a load, a place for
// one. SharedEvent: it happens once, and lets everyone on who waits. SharedPlaces: so many places
// for coroutines of all executors. On one executor base/coroutine/synchronization.hpp costs less.
//
//   class End : public SharedWait { … };      // an awaitable that has one
//   lock; wait.begin(handle, list); unlock;   // it stands in the list
//   lock; taken = list; unlock; wake(taken);  // each goes on where it was
//
// Owns       one piece of the recycler while it waits: the coroutine and the side that wakes it
//            share it.
// Borrows    the list and its mutex, which outlive the wait.
// Thread     begin(), withdraw() and the destructor: its executor's. wake(): any.
// Allocates  that piece.
// Fails      throws std::logic_error on a thread without an executor.
// Invariant  a coroutine that is destroyed leaves the list; one that was taken out of it already
//            is not resumed. Its executor does not end before the message that was sent to it came.
#pragma once

#include <coroutine>
#include <cstddef>
#include <mutex>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/reactor/lock.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::net {

class SharedWait;

// What stands in the list.
class SharedWaiter final : public Message, public ListHook<SharedWaiter> {
 public:
  using List = LinkedList<SharedWaiter>;  // the mutex of its owner guards it

  SharedWaiter(Executor& home, SharedWait& owner, Waiting waiting) noexcept
      : Message(&SharedWaiter::arrive), home_(home), owner_(&owner), waiting_(waiting) {}

 private:
  friend class SharedWait;
  friend void wake(SharedWaiter& waiter) noexcept;
  friend SharedWaiter& take_first(List& list) noexcept;
  static void arrive(Message& message) noexcept;
  void end() noexcept;

  Executor& home_;
  SharedWait* owner_;  // null: its coroutine is gone. Of its executor's thread.
  Waiting waiting_;
  bool at_turn_end_ = false;  // of its executor's thread
  bool listed_ = true;        // under the mutex
};

// REQUIRES that it was taken out of its list; without the mutex, which others may want at once.
void wake(SharedWaiter& waiter) noexcept;
// Takes one out. Under the mutex.
SharedWaiter& take_first(SharedWaiter::List& list) noexcept;

class SharedWait : private TimerEntry {
 public:
  SharedWait() noexcept : TimerEntry(&SharedWait::on_time) {}
  SharedWait(const SharedWait&) = delete;
  SharedWait& operator=(const SharedWait&) = delete;
  virtual ~SharedWait() { withdraw(); }

  // Under the mutex of the list. Ends by the deadline that the coroutine has
  // (base/coroutine/deadline.hpp), where there is a reactor.
  void begin(std::coroutine_handle<> waiting, SharedWaiter::List& list, Lock& mutex);
  // It was its deadline that ended the wait.
  bool is_late() const noexcept { return is_late_; }

 protected:
  // It was woken: true when it waits again, by begin_again(). Its executor's thread.
  virtual bool waits_again(const Waiting&) { return false; }
  // As begin(), of a coroutine that has not been resumed.
  void begin_again(const Waiting& waiting, SharedWaiter::List& list, Lock& mutex);
  // It waits no more. True: it was taken out of the list and not resumed: what it was given is to
  // be given back.
  bool withdraw() noexcept;

 private:
  friend class SharedWaiter;
  static void on_time(TimerEntry& entry) noexcept;
  bool leave_list() noexcept;

  SharedWaiter* waiter_ = nullptr;
  SharedWaiter::List* list_ = nullptr;
  Lock* mutex_ = nullptr;
  Instant deadline_ = never;
  bool is_late_ = false;
};

// Set once; who waits shares it with who sets it.
class SharedEvent {
 public:
  SharedEvent() noexcept = default;
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  // Any thread. Those who wait, and those who come later, go on.
  void set() noexcept;

  // A coroutine awaits it on its own executor; the event outlives it.
  class [[nodiscard]] Wait : public SharedWait {
   public:
    explicit Wait(SharedEvent& event) noexcept : event_(event) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting);
    // False: the deadline of the coroutine was first.
    bool await_resume() const noexcept { return !is_late(); }

   private:
    SharedEvent& event_;
  };
  Wait wait() noexcept { return Wait(*this); }  // co_await begins the wait; any thread

 private:
  Lock mutex_;  // what follows
  bool is_set_ = false;
  SharedWaiter::List list_;
};

// First come, first served.
class SharedPlaces {
 public:
  SharedPlaces(std::size_t places, std::size_t waiting_max) noexcept
      : free_(places), waiting_max_(waiting_max) {}

  // Gives its place back when it is destroyed.
  class [[nodiscard]] Place {
   public:
    Place() noexcept = default;
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    ~Place() {
      if (of_ != nullptr) of_->give_back();
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    friend class SharedPlaces;
    explicit Place(SharedPlaces& of) noexcept : of_(&of) {}
    SharedPlaces* of_ = nullptr;
  };
  // A coroutine awaits it for a Place; one that is destroyed before it resumes gives it back.
  class [[nodiscard]] Acquire : public SharedWait {
   public:
    explicit Acquire(SharedPlaces& of) noexcept : of_(of) {}
    ~Acquire() {
      if (withdraw()) of_.give_back();
    }
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting);
    // An Error: too many wait, or the deadline was first.
    Result<Place> await_resume();

   private:
    SharedPlaces& of_;
    bool is_refused_ = false;
  };
  Acquire acquire() noexcept { return Acquire(*this); }  // co_await begins the wait; any thread
  std::size_t waiting() const;  // coroutines that have no place yet; any thread

 private:
  void give_back() noexcept;

  mutable Lock mutex_;  // what follows
  std::size_t free_;
  const std::size_t waiting_max_;
  SharedWaiter::List list_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
