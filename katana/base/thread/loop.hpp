// Loop: an executor for a thread that has no reactor: main() of a tool, a test.
//
//   thread::Loop loop;
//   Result<int> lines = loop.run(count_lines(pool, "a.txt"));
//
// Owns       its mailbox.
// Thread     run() and the destructor: the one that created it. post() any.
// Allocates  never.
// Fails      run() rethrows what leaves the task.
// Invariant  as Executor. While there is nothing to do the thread sleeps, but for the moment in
//            which a short answer comes sooner than a sleep would end (AdaptiveSpin).
#pragma once

#include <atomic>
#include <thread>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/mailbox.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/base/system/futex.hpp"
#include "katana/base/system/monotonic_clock.hpp"

namespace katana::thread {

class Loop final : public Executor {
 public:
  Loop() noexcept = default;
  ~Loop() {
    const Entered entered(*this);
    while (expected() != 0) turn();
    end_turn();
    // A sender that has been received may still be inside of post().
    while (posts_done_.load(std::memory_order_acquire) != takes_) {
      run_messages();
      relax();
    }
  }

  // Starts the task, and does what comes until it is done.
  template <class T>
  T run(Task<T> task) {
    const Entered entered(*this);
    task.start();
    end_turn();
    while (!task.done()) turn();
    return task.result();
  }

  // Starts a task that the caller keeps. True: it is done.
  template <class T>
  bool start(Task<T>& task) {
    const Entered entered(*this);
    const bool done = task.start();
    end_turn();
    return done;
  }

  // Waits for messages and runs them.
  void turn() noexcept {
    // Some microseconds, less than a sleep costs; few looks, so that messages come together.
    for (int round = 0; round < 16; ++round) {
      if (run_messages()) return;
      for (int pause = 0; pause < 16; ++pause) relax();
    }
    spin();
    // The sending thread may need this very CPU.
    for (int round = 0; round < 16 && !mailbox_.has_messages(); ++round) std::this_thread::yield();
    while (!run_messages()) sleep();
  }
  // Runs the messages that are here. False: there were none.
  bool run_messages() noexcept {
    Message* message = mailbox_.take_all();
    if (message == nullptr) return false;
    const Entered entered(*this);
    ++takes_;
    while (message != nullptr) {
      Message* const next = message->next;
      message->run(*message);
      message = next;
    }
    end_turn();
    return true;
  }

  void post(Message& message) noexcept override {
    if (!mailbox_.post(message)) return;
    // A sleeping thread has said so before it looked into the mailbox.
    if (asleep_.load(std::memory_order_seq_cst)) {
      epoch_.fetch_add(1, std::memory_order_release);
      futex_wake(&epoch_, 1);
    }
    posts_done_.fetch_add(1, std::memory_order_release);
  }

 private:
  // Only while the thread does the work of its tasks it is an executor's: beside it, it may block.
  class Entered {
   public:
    explicit Entered(Loop& loop) noexcept : before_(enter(&loop)) {}
    ~Entered() { enter(before_); }

   private:
    Executor* before_;
  };

  void spin() noexcept {
    Instant now = monotonic_now();
    const Instant end = spin_.end(now);
    while (now < end && !mailbox_.has_messages()) {
      for (int pause = 0; pause < 16; ++pause) relax();
      now = monotonic_now();
      if (now >= end) spin_.failed(now);
    }
  }
  void sleep() noexcept {
    const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
    asleep_.store(true, std::memory_order_seq_cst);
    if (!mailbox_.has_messages()) futex_wait(epoch_, epoch);
    asleep_.store(false, std::memory_order_relaxed);
  }

  AdaptiveSpin spin_{spin_for(microseconds(50))};  // about what it takes to sleep and to be woken
  Mailbox mailbox_;
  FutexWord epoch_ = 0;
  std::atomic<bool> asleep_ = false;
  std::uint64_t takes_ = 0;                    // how often the mailbox was emptied
  std::atomic<std::uint64_t> posts_done_ = 0;  // how often its first sender has left post()
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
