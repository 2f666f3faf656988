// Executor: a thread that others may ask to go on with something, by posting a Message to it.
//
// What lets a room resume a coroutine where it was suspended without knowing what a reactor is.
//
// Owns       nothing: a Message belongs to its sender until run() is called on the executor's
//            thread, and to the callee then. So posting cannot fail.
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

struct Message {
  explicit Message(void (*action)(Message&) noexcept) noexcept : run(action) {}
  void (*run)(Message&) noexcept;
  Message* next = nullptr;
};

class Executor {
 public:
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The executor whose work this thread is doing; null when there is none.
  static Executor* current() noexcept { return current_; }

  virtual void post(Message& message) noexcept = 0;

  // Another thread was promised that it may post one message, until unexpect() takes it back:
  // because the message came, or because that thread agreed not to send it.
  void expect() noexcept { ++expected_; }
  void unexpect() noexcept { --expected_; }
  std::uint64_t expected() const noexcept { return expected_; }

  // What this executor is at, as a monitor on another thread calls it: the route of a handler.
  // Null: nothing that has a name. The text outlives the executor.
  const std::string* site() const noexcept { return site_.load(std::memory_order_relaxed); }
  // The executor's own thread. Returns what it was at before.
  const std::string* enter_site(const std::string* site) noexcept {
    const std::string* const before = site_.load(std::memory_order_relaxed);
    site_.store(site, std::memory_order_relaxed);
    return before;
  }

  // What is better done once for everything that happens in a turn: the message runs when the rest
  // of the turn is done, before the executor next waits. In the order of the calls.
  void at_turn_end(Message& message) noexcept {
    message.next = nullptr;
    (turn_end_last_ != nullptr ? turn_end_last_->next : turn_end_first_) = &message;
    turn_end_last_ = &message;
  }
  // Takes it back. REQUIRES that it has not run since.
  void forget_at_turn_end(Message& message) noexcept {
    Message* before = nullptr;
    Message** link = &turn_end_first_;
    for (; *link != &message; link = &before->next) before = *link;
    *link = message.next;
    if (turn_end_last_ == &message) turn_end_last_ = before;
  }

 protected:
  Executor() noexcept = default;
  ~Executor() {
    if (current_ == this) current_ = nullptr;
  }
  // The turn is over. What these messages ask for in turn is done, too.
  void end_turn() noexcept {
    while (turn_end_first_ != nullptr) [[unlikely]] {
      Message& message = *turn_end_first_;
      turn_end_first_ = message.next;
      if (turn_end_first_ == nullptr) turn_end_last_ = nullptr;
      message.run(message);
    }
  }
  // This thread does the work of `executor` from here on. Returns whose it did before.
  static Executor* enter(Executor* executor) noexcept { return std::exchange(current_, executor); }

 private:
  inline static constinit thread_local Executor* current_ = nullptr;
  std::uint64_t expected_ = 0;
  std::atomic<const std::string*> site_ = nullptr;
  Message* turn_end_first_ = nullptr;
  Message* turn_end_last_ = nullptr;
};

}  // namespace katana
