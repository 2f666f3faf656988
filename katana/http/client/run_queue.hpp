// RunQueue: work that runs after the rest of a reactor's turn, in one deferred message.
// Runnable: one piece of work. RunList: several of them, in order.
//
// Owns       nothing: a Runnable leaves its list when it is destroyed.
// Thread     its reactor's.
// Allocates  never.
// Fails      never.
// Invariant  work given to run_later() runs before work given to resume_later(). A call that waits
//            for a connection thus precedes the next request of a coroutine that resumes. Work that
//            is added while the queue runs, runs in a later message.
#pragma once

#include <cstddef>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::client {

class RunList;

// A piece of work for a RunList. It is in at most one list.
class Runnable : private ListHook<Runnable> {
 public:
  Runnable(const Runnable&) = delete;
  Runnable& operator=(const Runnable&) = delete;

  bool is_listed() const noexcept { return list_ != nullptr; }  // whether it waits in a list
  void leave_list() noexcept;                                   // does nothing if it is in none

 protected:
  Runnable() noexcept = default;
  ~Runnable() { leave_list(); }

 private:
  friend class LinkedList<Runnable>;
  friend class RunList;
  friend class RunQueue;
  virtual void run() noexcept = 0;

  RunList* list_ = nullptr;
};

// Runnables in the order in which they run. The list owns none of them.
class RunList {
 public:
  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  // REQUIRES that the runnable is in no list.
  void push_back(Runnable& runnable) noexcept;
  void push_front(Runnable& runnable) noexcept;
  void remove(Runnable& runnable) noexcept;
  // REQUIRES not empty().
  Runnable& pop_front() noexcept;

 private:
  LinkedList<Runnable> list_;
};

class RunQueue {
 public:
  explicit RunQueue(net::Reactor& reactor) noexcept : reactor_(reactor) {}
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Runs it once, even if it is added several times.
  void run_later(Runnable& runnable) noexcept;
  // REQUIRES that the runnable is in no list.
  void resume_later(Runnable& runnable) noexcept;

 private:
  static void run_all(Message& message) noexcept;
  static void run(RunList& list) noexcept;
  void schedule() noexcept;

  net::Reactor& reactor_;
  RunList first_;
  RunList second_;
  bool scheduled_ = false;
  struct Work final : Message {
    explicit Work(RunQueue& owner) noexcept : Message(&RunQueue::run_all), queue(owner) {}
    RunQueue& queue;
  } work_{*this};
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
