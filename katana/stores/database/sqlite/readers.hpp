// Readers: the pool for reads that are not answered on a reactor, and for streams.
//
// A slot is a turn of one of the pool's threads: it takes works from the queue until there are
// none. A stream keeps its connection between two batches, but it has no slot then, and no thread.
//
// Owns       connections; works from submit() until they are completed or withdrawn; cursors until
//            close().
// Borrows    options, watch, clock, and the executor that its slots run on.
// Thread     any, but for the slots.
// Allocates  connections, cursors.
// Fails      by Outcome::error.
// Invariant  at most options.readers works run at once, and at most options.streams_max streams are
//            open: a stream that finds no place waits as any other work. A slot that serves no work
//            has no connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/sqlite/connection.hpp"
#include "katana/stores/database/sqlite/watch.hpp"

namespace katana::database::sqlite {

class Readers final {
 public:
  Readers(const Options& options, Watch& watch, const std::function<Instant()>& clock);
  ~Readers();

  // Once, before the first submit(). The executor outlives stop().
  void run_on(Executor& executor) noexcept { executor_ = &executor; }
  // Takes all works of the list. Works beyond reads_waiting_max complete with Kind::unavailable.
  void submit(WorkList& works) noexcept;
  // Its executor's thread.
  void withdraw(Work& work) noexcept;
  void close(Cursor& cursor) noexcept;
  // Refuses works that waited for too long, and takes connections from unread streams.
  void tick(Instant now) noexcept;
  // When tick() has work; never: nothing waits. Later works and streams set the watch's alarm.
  Instant next_due() const noexcept;
  // Accepts no more works, refuses those that wait, interrupts those that run. Returns when none
  // runs.
  void stop() noexcept;

  void add_figures(Statistics& statistics) const;  // adds counts and levels of the pool; any thread

 private:
  struct Slot final : Message {
    explicit Slot(Readers& pool) noexcept : Message(&Slot::serve), readers(pool) {}
    static void serve(Message& message) noexcept;
    Readers& readers;
    bool busy = false;
    Connection* connection = nullptr;  // that a statement runs on
  };
  class ReadCursor;

  // REQUIRES that the mutex is held.
  void schedule() noexcept;
  Work* take() noexcept;
  void forget(ReadCursor& cursor) noexcept;

  void serve(Slot& slot) noexcept;
  void run(Slot& slot, Work& work) noexcept;
  void read(Slot& slot, Work& work, std::unique_ptr<Connection>& connection) noexcept;
  void open_stream(Slot& slot, Work& work, std::unique_ptr<Connection>& connection) noexcept;
  void fetch(Slot& slot, Work& work) noexcept;
  void conclude(Work& work, int code, const Connection& connection);
  Result<std::unique_ptr<Connection>> connect() noexcept;
  void give_back(std::unique_ptr<Connection> connection) noexcept;
  void enter(Slot& slot, Connection* connection) noexcept;

  const Options& options_;
  Watch& watch_;
  const std::function<Instant()>& clock_;
  Executor* executor_ = nullptr;

  mutable std::mutex mutex_;  // what follows
  WorkList queue_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::vector<ReadCursor*> cursors_;
  unsigned streams_ = 0;  // places that are taken: cursors, and streams that are being opened
  bool closed_ = false;
  std::uint64_t pooled_ = 0, refused_full_ = 0, refused_waited_ = 0, refused_unusable_ = 0;
  std::uint64_t timeouts_ = 0, cancelled_ = 0;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
