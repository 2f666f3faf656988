// Work: one awaited call of a database, on its way to another thread and back.
//
// Owns       copies of its parameters, and its outcome. The side that is done last destroys it.
// Thread     made, awaited and withdrawn by its home executor's thread; run by the backend's.
// Allocates  one piece of the recycler, parameters included.
// Fails      never directly; the error is in outcome().error.
// Invariant  a work that was submitted completes exactly once, or is withdrawn exactly once. Its
//            coroutine may be destroyed at any moment.
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/error.hpp"
#include "katana/stores/database/row.hpp"
#include "katana/stores/database/sql.hpp"
#include "katana/stores/database/transaction_options.hpp"

namespace katana::database {

class Backend;

// A statement of a stream that stands between two batches. The backend defines its content.
class Cursor {
 protected:
  ~Cursor() = default;
};

// Takes the rows of a call, and holds its other results.
class Outcome {
 public:
  // Reads a row. A misfit ends the statement: it has failed.
  virtual TypeMismatch take(const Row& row) = 0;
  // About so many rows come: room may be made for them.
  virtual void expect(std::size_t) {}
  // Forgets the rows: the statement is run again, or its effect was undone.
  virtual void clear() noexcept = 0;
  // False: no more rows are wanted at present (a stream's batch is full).
  virtual bool wants_more() const noexcept { return true; }

  std::optional<Error> error;     // empty: the work succeeded
  std::int64_t rows_changed = 0;  // of a statement that writes
  std::uint64_t transaction = 0;  // of Order::begin: the transaction that was begun
  Cursor* cursor = nullptr;       // of a stream: the statement that goes on; null at its end
  Backend* backend = nullptr;     // of a work: whose it is

 protected:
  ~Outcome() = default;
};

// The request of a work to the backend.
enum class Order : std::uint8_t {
  read,       // a statement that changes nothing
  write,      // one that does; acknowledged when it is durable
  within,     // a statement of a transaction
  begin,      // begins a transaction
  commit,     // ends it; acknowledged when it is durable
  rollback,   // ends it; 1 as rows_changed when a conflict was why it failed
  savepoint,  // of a transaction
  release,    // keeps what was done since the savepoint
  undo,       // undoes it, failed statements included; the savepoint is gone
  open,       // a stream: its first batch
  fetch,      // its next
  copy,       // PostgreSQL: data of a COPY FROM STDIN, which was opened as a stream is
  copy_end,   // there is no more of it
};

// A work without the coroutine that waits for it. A copy refers to the same objects.
struct Request {
  Order order = Order::read;           // decides which of the members below count
  TransactionMode mode = {};           // of Order::begin
  std::uint32_t savepoint = 0;         // of savepoint, release, undo
  const Sql* sql = nullptr;            // null where the order needs none
  std::span<const Value> values = {};  // parameters of `sql`; borrowed until the work is submitted
  std::uint64_t transaction = 0;       // of Order::within, commit and rollback; 0: none
  Cursor* cursor = nullptr;            // of a stream; null: a new one
  Duration timeout = {};               // 0: none beyond the wait in the queue
};

class WorkList;

class Work : public Message, public ListHook<Work> {
 public:
  // Frees a work in the way it was allocated.
  using Destroyer = void (*)(Work*) noexcept;

  Work(Executor& home, const Request& asked, Outcome& where, Destroyer destroyer) noexcept
      : Message(&Work::arrive),
        request(asked),
        outcome(where),
        executor(home),
        destroy(destroyer) {}

  // The backend's last touch. True: post it to its executor, alone or as a part of a chain. False:
  // no caller waited any more and it is gone.
  [[nodiscard]] bool complete() noexcept {
    // acq_rel: gives the outcome to the executor's thread, or takes the work over from it.
    if (word_.exchange(posted, std::memory_order_acq_rel) != abandoned) return true;
    destroy(this);
    return false;
  }
  bool abandoned_by_now() const noexcept {
    return word_.load(std::memory_order_relaxed) == abandoned;
  }
  // The coroutine is destroyed, and the backend could not take the work back. Home thread.
  void abandon() noexcept;
  // Promises its home a message, until it comes or the work is taken back. Home thread.
  void expect() noexcept { run_in_turns ? executor.expect_open_ended() : executor.expect(); }
  void unexpect() noexcept { run_in_turns ? executor.unexpect_open_ended() : executor.unexpect(); }

  Request request;                // refers to the copied parameters
  Outcome& outcome;               // written by the backend's thread until the work completes
  Executor& executor;             // of the coroutine that waits
  Destroyer destroy;              // called once, by the side that is done last
  Waiting waiting;                // the coroutine that waits
  Instant begin_by = never;       // not begun until then: it is refused
  Instant deadline = never;       // after it a work that runs is interrupted, too
  Work* next_in_batch = nullptr;  // completed together, for the same executor

  Backend* taken_by = nullptr;  // of several behind one: where it was submitted
  bool run_in_turns = false;    // by its home itself: Backend::runs_in_turns()
  bool on_own_thread = false;   // not handed over yet; its executor's thread only
  // The list that it is in; the lock of that list guards it. It is atomic, because a thread with
  // the lock of another list may compare it.
  std::atomic<WorkList*> list = nullptr;

 private:
  enum : std::uint32_t { pending, posted, abandoned };

  static void arrive(Message& message) noexcept {
    for (Work* work = &static_cast<Work&>(message); work != nullptr;) {
      Work* const next = work->next_in_batch;  // the coroutine destroys its work
      work->unexpect();
      if (work->waiting) {
        std::exchange(work->waiting, {}).resume();
      } else {
        work->destroy(work);
      }
      work = next;
    }
  }

  std::atomic<std::uint32_t> word_ = pending;
};

// Works in the order in which they came. Any of them can be taken out.
class WorkList {
 public:
  WorkList() noexcept = default;
  WorkList(const WorkList&) = delete;
  WorkList& operator=(const WorkList&) = delete;

  bool empty() const noexcept { return list_.empty(); }
  // True when the work is in this list. Needs the lock of the list.
  bool has(const Work& work) const noexcept {
    return work.list.load(std::memory_order_relaxed) == this;
  }
  std::size_t size() const noexcept { return list_.size(); }
  Work* first() const noexcept { return list_.first(); }  // the oldest; null: the list is empty

  // Adds the work at the end. REQUIRES that it is in no list.
  void push(Work& work) noexcept {
    work.list.store(this, std::memory_order_relaxed);
    list_.push_back(work);
  }
  // REQUIRES has(work).
  void remove(Work& work) noexcept {
    list_.remove(work);
    work.list.store(nullptr, std::memory_order_relaxed);
  }
  // Removes the oldest and returns it; null: the list is empty.
  Work* pop() noexcept {
    Work* const work = first();
    if (work != nullptr) remove(*work);
    return work;
  }

 private:
  LinkedList<Work> list_;
};

// Completed works, posted to each executor together: their coroutines go on in the same turn, and
// their next calls come together, too.
class Completions {
 public:
  Completions() noexcept = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() { send(); }

  // Adds a work that has ended, unless it was withdrawn in the meantime.
  void add(Work& work) noexcept {
    if (!work.complete()) return;
    for (std::size_t index = 0; index < used_; ++index) {
      if (chains_[index].executor != &work.executor) continue;
      chains_[index].last->next_in_batch = &work;
      chains_[index].last = &work;
      return;
    }
    if (used_ == chains_.size()) send();
    chains_[used_++] = {&work.executor, &work, &work};
  }
  // Posts the added works, one message for each executor. The destructor does so, too.
  void send() noexcept {
    for (std::size_t index = 0; index < used_; ++index) {
      chains_[index].executor->post(*chains_[index].first);
    }
    used_ = 0;
  }

 private:
  struct Chain {
    Executor* executor;
    Work* first;
    Work* last;
  };
  std::array<Chain, 32> chains_;
  std::size_t used_ = 0;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
