// Executor: a thread that others may ask to go on with something, by posting a Message to it.
//
// What lets a module resume a coroutine where it was suspended without knowing what a reactor is.
//
// Owns       nothing: a Message belongs to its sender until run() is called on the executor's
//            thread, and to the callee then. Therefore posting cannot fail.
// Thread     post() any; everything else the executor's own.
// Allocates  never.
// Fails      never.
// Invariant  messages of one sender run in the order in which they were posted. An executor that
//            ends has received every message that it was told to expect(), and no sender is inside
//            of its post() any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace katana {

class FailureObserver;

// What post() delivers. Part of a larger object, so that posting allocates nothing.
struct Message {
  explicit Message(void (*action)(Message&) noexcept) noexcept : run(action) {}
  void (*run)(Message&) noexcept;  // called on the executor's thread, with this message
  Message* next = nullptr;         // link of the queue that holds it; of no meaning otherwise
};

class Executor {
 public:
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The executor whose work this thread is doing; null when there is none.
  static Executor* current() noexcept { return current_; }

  // Any thread. REQUIRES that the message is in no queue.
  virtual void post(Message& message) noexcept = 0;
  // Told of what fails here and belongs to no request; null: none.
  virtual FailureObserver* failure_observer() const noexcept { return nullptr; }

  // Another thread was promised that it may post one message, until unexpect() takes it back:
  // because the message came, or because that thread agreed not to send it.
  void expect() noexcept { ++expected_; }
  void unexpect() noexcept { --expected_; }
  std::uint64_t expected() const noexcept { return expected_; }
  // The same for a message that may never come, or only once something else has happened here: a
  // place that becomes free, an event that is published.
  void expect_open_ended() noexcept {
    ++expected_;
    ++open_ended_;
  }
  void unexpect_open_ended() noexcept {
    --expected_;
    --open_ended_;
  }
  // Messages that other threads are working on, and that come without being asked for.
  std::uint64_t expected_work() const noexcept { return expected_ - open_ended_; }

  // What this executor is at, as a monitor on another thread calls it: the route of a handler.
  // Null: nothing that has a name. The text outlives the executor. A reader of a site sees all
  // that the executor wrote before it entered it.
  const std::string* site() const noexcept { return site_.load(std::memory_order_acquire); }
  // The executor's own thread. Returns what it was at before.
  const std::string* enter_site(const std::string* site) noexcept {
    const std::string* const prev = site_.load(std::memory_order_relaxed);
    site_.store(site, std::memory_order_release);
    return prev;
  }
  void leave_site(const std::string* before) noexcept {
    site_.store(before, std::memory_order_release);
  }

  // What is better done once for everything that happens in a turn: the message runs when the rest
  // of the turn is done, before the executor next waits. In the order of the calls.
  void at_turn_end(Message& message) noexcept { turn_end_.add(message); }
  // Takes it back. REQUIRES that it has not run since.
  void forget_at_turn_end(Message& message) noexcept { turn_end_.remove(message); }

  // What may be kept from turn to turn while there is something to do, but not while the executor
  // waits: the message runs before it does, and after kept_turns_max turns at the latest.
  void before_wait(Message& message) noexcept { before_wait_.add(message); }
  void forget_before_wait(Message& message) noexcept { before_wait_.remove(message); }
  // Turns after which a kept message runs even if there is more to do.
  static constexpr unsigned kept_turns_max = 16;

 protected:
  Executor() noexcept = default;
  ~Executor() {
    if (current_ == this) current_ = nullptr;
  }
  // The turn is over. What these messages ask for in turn is done, too. `waits`: the next turn may
  // wait; one that must not, because something is kept, is told by keeps().
  void end_turn(bool waits = true) noexcept {
    turn_end_.run();
    if (!keeps()) [[likely]]
      return;
    if (!waits && ++kept_turns_ < kept_turns_max) return;
    kept_turns_ = 0;
    before_wait_.run();
  }
  bool keeps() const noexcept { return before_wait_.first != nullptr; }
  // This thread does the work of `executor` from here on. Returns whose it did before.
  static Executor* enter(Executor* executor) noexcept { return std::exchange(current_, executor); }

 private:
  struct Messages {
    void add(Message& message) noexcept {
      message.next = nullptr;
      (last != nullptr ? last->next : first) = &message;
      last = &message;
    }
    void remove(Message& message) noexcept {
      Message* prev = nullptr;
      Message** link = &first;
      for (; *link != &message; link = &prev->next) prev = *link;
      *link = message.next;
      if (last == &message) last = prev;
    }
    void run() noexcept {
      while (first != nullptr) [[unlikely]] {
        Message& message = *first;
        first = message.next;
        if (first == nullptr) last = nullptr;
        message.run(message);
      }
    }
    Message* first = nullptr;
    Message* last = nullptr;
  };

  inline static constinit thread_local Executor* current_ = nullptr;
  std::uint64_t expected_ = 0;
  std::uint64_t open_ended_ = 0;  // of those
  std::atomic<const std::string*> site_ = nullptr;
  Messages turn_end_;
  Messages before_wait_;
  unsigned kept_turns_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
