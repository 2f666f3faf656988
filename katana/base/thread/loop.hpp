// Loop: an executor for a thread without a reactor, such as main() of a tool, or a test.
//
//   thread::Loop loop;
//   Result<int> lines = loop.run(count_lines(pool, "a.txt"));
//
// Owns       its mailbox.
// Thread     run() and the destructor: the one that created it. post() any.
// Allocates  never.
// Fails      run() rethrows the exception of the task.
// Invariant  as Executor. The thread sleeps while it has nothing to do. Before that it spins for a
//            moment, because a short answer arrives sooner than a sleep would end (AdaptiveSpin).
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
    // The sender of a received message may still be inside post().
    while (posts_done_.load(std::memory_order_acquire) != takes_) {
      run_messages();
      relax();
    }
  }

  // Runs the task, and handles messages until it is done. Returns its value.
  template <class T>
  T run(Task<T> task) {
    const Entered entered(*this);
    task.start();
    end_turn();
    while (!task.done()) turn();
    return task.result();
  }

  // Starts a task that the caller keeps. True: the task is done.
  template <class T>
  bool start(Task<T>& task) {
    const Entered entered(*this);
    const bool done = task.start();
    end_turn();
    return done;
  }

  // Waits for messages and runs them.
  void turn() noexcept {
    // Spins for some microseconds, less than a sleep costs. It looks rarely, to collect messages.
    for (int round = 0; round < 16; ++round) {
      if (run_messages()) return;
      for (int pause = 0; pause < 16; ++pause) relax();
    }
    spin();
    // The sending thread may need this CPU.
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
    // A thread sets asleep_ before it looks into the mailbox for the last time and sleeps.
    if (asleep_.load(std::memory_order_seq_cst)) {
      epoch_.fetch_add(1, std::memory_order_release);
      futex_wake(&epoch_, 1);
    }
    posts_done_.fetch_add(1, std::memory_order_release);
  }

 private:
  // The thread belongs to the executor only while it runs tasks. At other times it may block.
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

  AdaptiveSpin spin_{spin_for(microseconds(50))};  // about the cost of a sleep and a wake-up
  Mailbox mailbox_;
  FutexWord epoch_ = 0;
  std::atomic<bool> asleep_ = false;
  std::uint64_t takes_ = 0;                    // number of times that the mailbox was emptied
  std::atomic<std::uint64_t> posts_done_ = 0;  // number of times that a first sender left post()
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
