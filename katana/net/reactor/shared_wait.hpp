// SharedWait: a coroutine waits for an event of any thread: the end of a load, or a free place.
// SharedEvent: happens once, and resumes every waiting coroutine. SharedPlaces: a limited number of
// places for coroutines of all executors. On one executor base/coroutine/synchronization.hpp costs
// less.
//
//   class End : public SharedWait { … };      // an awaitable that has one
//   lock; wait.begin(handle, list); unlock;   // it is in the list
//   lock; taken = list; unlock; wake(taken);  // each goes on where it was
//
// Owns       one piece of the recycler while it waits, which the coroutine and its waker share.
// Borrows    the list and its mutex, which outlive the wait.
// Thread     begin(), withdraw() and the destructor: its executor's. wake(): any.
// Allocates  that piece.
// Fails      throws std::logic_error on a thread without an executor.
// Invariant  a destroyed coroutine leaves the list; one that was already taken out is not resumed.
//            Its executor does not end before the message to it has arrived.
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

// The entry of a coroutine in the list.
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
  SharedWait* owner_;  // null: its coroutine is destroyed. Its executor's thread
  Waiting waiting_;
  bool at_turn_end_ = false;  // used on its executor's thread
  bool listed_ = true;        // guarded by the mutex
};

// REQUIRES that it was taken out of its list. Called without the mutex, which others may want at
// once.
void wake(SharedWaiter& waiter) noexcept;
// Takes the first one out. Called under the mutex.
SharedWaiter& take_first(SharedWaiter::List& list) noexcept;

class SharedWait : private TimerEntry {
 public:
  SharedWait() noexcept : TimerEntry(&SharedWait::on_time) {}
  SharedWait(const SharedWait&) = delete;
  SharedWait& operator=(const SharedWait&) = delete;
  virtual ~SharedWait() { withdraw(); }

  // Called under the mutex of the list. Ends by the coroutine's deadline
  // (base/coroutine/deadline.hpp), where there is a reactor.
  void begin(std::coroutine_handle<> waiting, SharedWaiter::List& list, Lock& mutex);
  // Whether its deadline ended the wait.
  bool is_late() const noexcept { return is_late_; }

 protected:
  // Called when it was woken, on its executor's thread. Returns true when it waits again, by
  // begin_again().
  virtual bool waits_again(const Waiting&) { return false; }
  // Like begin(), for a coroutine that has not been resumed.
  void begin_again(const Waiting& waiting, SharedWaiter::List& list, Lock& mutex);
  // Ends the wait. True: it was taken out of the list and not resumed, and has to give back its
  // result.
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

// Set once. Waiting coroutines and the setter share it.
class SharedEvent {
 public:
  SharedEvent() noexcept = default;
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  // Any thread. Resumes present and future waiters.
  void set() noexcept;

  // A coroutine awaits it on its own executor; the event outlives it.
  class [[nodiscard]] Wait : public SharedWait {
   public:
    explicit Wait(SharedEvent& event) noexcept : event_(event) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting);
    // False: the coroutine's deadline came first.
    bool await_resume() const noexcept { return !is_late(); }

   private:
    SharedEvent& event_;
  };
  Wait wait() noexcept { return Wait(*this); }  // co_await begins the wait; any thread

 private:
  Lock mutex_;  // guards the next members
  bool is_set_ = false;
  SharedWaiter::List list_;
};

// Places for coroutines, first come, first served.
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
  // A coroutine awaits it for a Place; one that is destroyed before it resumes gives the place
  // back.
  class [[nodiscard]] Acquire : public SharedWait {
   public:
    explicit Acquire(SharedPlaces& of) noexcept : of_(of) {}
    ~Acquire() {
      if (withdraw()) of_.give_back();
    }
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting);
    // An Error: too many coroutines wait, or the deadline came first.
    Result<Place> await_resume();

   private:
    SharedPlaces& of_;
    bool is_refused_ = false;
  };
  Acquire acquire() noexcept { return Acquire(*this); }  // co_await begins the wait; any thread
  std::size_t waiting() const;  // coroutines that have no place yet; any thread

 private:
  void give_back() noexcept;

  mutable Lock mutex_;  // guards the next members
  std::size_t free_;
  const std::size_t waiting_max_;
  SharedWaiter::List list_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
