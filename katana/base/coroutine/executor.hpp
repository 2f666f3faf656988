// Executor: a thread that runs Messages which any thread may post to it.
//
// A module uses it to resume a coroutine on the thread where it was suspended. The module need not
// know what a reactor is.
//
// Owns       nothing: a Message belongs to its sender until run() is called on the executor's
//            thread, and to the callee then. Therefore posting cannot fail.
// Thread     post() any; all other members the executor's own.
// Allocates  never.
// Fails      never.
// Invariant  messages of one sender run in the order in which they were posted. An executor that
//            ends has received every message that it was told to expect(), and no sender is still
//            inside its post().
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace katana {

class FailureObserver;

// The unit that post() delivers. It is part of a larger object, and posting allocates nothing.
struct Message {
  explicit Message(void (*action)(Message&) noexcept) noexcept : run(action) {}
  void (*run)(Message&) noexcept;  // called on the executor's thread, with this message
  Message* next = nullptr;         // link of the queue that holds it; meaningless outside a queue
};

class Executor {
 public:
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The executor of this thread; null when there is none.
  static Executor* current() noexcept { return current_; }

  // Any thread. REQUIRES that the message is in no queue.
  virtual void post(Message& message) noexcept = 0;
  // The observer of failures on this executor that belong to no request; null: none.
  virtual FailureObserver* failure_observer() const noexcept { return nullptr; }

  // Announces one message that another thread may post. Call unexpect() when the message has
  // arrived, or when that thread has agreed not to send it.
  void expect() noexcept { ++expected_; }
  void unexpect() noexcept { --expected_; }
  std::uint64_t expected() const noexcept { return expected_; }
  // The same for a message that may never come, or that depends on another event on this executor.
  // Examples are a place that becomes free and an event that is published.
  void expect_open_ended() noexcept {
    ++expected_;
    ++open_ended_;
  }
  void unexpect_open_ended() noexcept {
    --expected_;
    --open_ended_;
  }
  // The number of expected messages that other threads will send without a further event here.
  std::uint64_t expected_work() const noexcept { return expected_ - open_ended_; }

  // The name of the current work for a monitor on another thread, such as the route of a handler;
  // null: the work has no name. The text outlives the executor. A thread that reads a site sees
  // all writes of the executor before enter_site().
  const std::string* site() const noexcept { return site_.load(std::memory_order_acquire); }
  // Only on the executor's own thread. Returns the previous site.
  const std::string* enter_site(const std::string* site) noexcept {
    const std::string* const prev = site_.load(std::memory_order_relaxed);
    site_.store(site, std::memory_order_release);
    return prev;
  }
  void leave_site(const std::string* before) noexcept {
    site_.store(before, std::memory_order_release);
  }

  // Runs the message after the rest of the turn and before the executor next waits, in the order
  // of the calls. This serves work that is done once for all events of a turn.
  void at_turn_end(Message& message) noexcept { turn_end_.add(message); }
  // Removes the message. REQUIRES that it has not run since.
  void forget_at_turn_end(Message& message) noexcept { turn_end_.remove(message); }

  // Runs the message before the executor waits, and after kept_turns_max turns at the latest. This
  // serves work that may be postponed from turn to turn while the executor is busy.
  void before_wait(Message& message) noexcept { before_wait_.add(message); }
  void forget_before_wait(Message& message) noexcept { before_wait_.remove(message); }
  // The number of turns after which a kept message runs even if the executor is busy.
  static constexpr unsigned kept_turns_max = 16;

 protected:
  Executor() noexcept = default;
  ~Executor() {
    if (current_ == this) current_ = nullptr;
  }
  // Ends the turn: runs the messages of its end, and those that they add. `waits`: the next turn
  // may wait. keeps() tells that it must not, because a message is kept.
  void end_turn(bool waits = true) noexcept {
    turn_end_.run();
    if (!keeps()) [[likely]]
      return;
    if (!waits && ++kept_turns_ < kept_turns_max) return;
    kept_turns_ = 0;
    before_wait_.run();
  }
  bool keeps() const noexcept { return before_wait_.first != nullptr; }
  // Makes `executor` the executor of this thread. Returns the previous one.
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
  std::uint64_t open_ended_ = 0;  // the part of expected_ that is open-ended
  std::atomic<const std::string*> site_ = nullptr;
  Messages turn_end_;
  Messages before_wait_;
  unsigned kept_turns_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
