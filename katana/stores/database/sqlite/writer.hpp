// Writer: the one connection that writes, and the works that wait for it.
//
// Writes that wait together share one transaction, and are acknowledged together once it is
// durable. SQLite undoes a failed statement without a ROLLBACK: a write that violates a constraint
// does not affect the others. A write that returns rows also has a savepoint, because reading its
// rows may fail after it succeeded.
//
// A write that breaks the whole transaction (an interrupt, INSERT OR ROLLBACK, a deferred foreign
// key) is left out. The writes before it are run once more and committed. The writes behind it
// follow in another transaction. A group costs at most three runs of each write, however many break
// it, and none of them was acknowledged before. After a violation of a deferred foreign key each
// write of the group has a savepoint: the next violation then breaks nothing.
//
//   submit → queue → drain
//
//   drain: [ group: BEGIN IMMEDIATE, each write, COMMIT ] → acknowledged
//          [ begin: BEGIN IMMEDIATE, then only works of this transaction ]
//
// A transaction ends by commit, by rollback, or when it was held for too long.
//
// A write that is submitted while a group is executing is added to it. Callers that write again as
// soon as they are answered stay in one group. A group waits a moment for more writes when it is
// smaller than the previous group together with the writes that waited then. Otherwise a caller
// that came a moment late would have its own commit in every round, and delay all callers.
//
// Owns       its connection; works from submit() until they are completed or withdrawn.
// Borrows    options, watch, clock, and the executor that it runs on.
// Thread     submit, withdraw, roll_back, tick: any. drain: the executor's, never twice at once.
// Allocates  nothing for a write.
// Fails      by Outcome::error.
// Invariant  a write is acknowledged after its commit returned success with the file still under
//            its name; otherwise it is refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/values/tally.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/sqlite/connection.hpp"
#include "katana/stores/database/sqlite/file_identity.hpp"
#include "katana/stores/database/sqlite/watch.hpp"

namespace katana::database::sqlite {

class Writer final : private Message {
 public:
  Writer(const Options& options, Watch& watch, const std::function<Instant()>& clock);
  ~Writer();

  // Opens the first connection, which may make the file. Call it before anything else.
  Result<void> open(Access access);
  void run_on(Executor& executor) noexcept { executor_ = &executor; }

  // Any number of works at once; those that find no room are refused.
  void submit(WorkList& works) noexcept;
  // Its executor's thread.
  void withdraw(Work& work) noexcept;
  void roll_back(std::uint64_t transaction) noexcept;
  // Refuses works that waited for too long, ends a transaction that was held for too long, and
  // checks the file.
  void tick(Instant now) noexcept;
  // When a work or the open transaction has waited for too long; never: none waits. Later ones set
  // the watch's alarm.
  Instant next_due() const noexcept;
  // When tick() checks the file again.
  Instant next_probe() const noexcept;
  // Accepts no more works and refuses those that wait. Returns when none runs. REQUIRES that the
  // executor still runs.
  void close() noexcept;

  // Adds counts and levels of the writer; any thread.
  void add_figures(Statistics& statistics) const;

 private:
  static void drain_message(Message& message) noexcept;
  void drain() noexcept;
  void linger() noexcept;
  // REQUIRES that the mutex is held.
  void schedule() noexcept;
  bool take(WorkList& group);
  void admit(WorkList& group) noexcept;
  bool await_arrival(Instant until) const noexcept;

  void run_group(WorkList& group) noexcept;
  bool run_once(WorkList& group, WorkList* again, Completions& done) noexcept;
  void run_again(WorkList& group, WorkList& again, Completions& done) noexcept;
  Work* next_of(Work& work, WorkList& group) noexcept;
  int run_write(Work& work) noexcept;
  int run_statement(Work& work) noexcept;
  bool finish_group(WorkList& group, int code, Completions& done) noexcept;
  bool begin_transaction(WorkList& group, Completions& done) noexcept;
  void leave_out(Work& broken, WorkList& group, WorkList* again, int code,
                 Completions& done) noexcept;

  void begin(Work& work) noexcept;
  void run_within(Work& work) noexcept;
  int run_within_mode(Work& work) noexcept;
  void run_savepoint(Work& work) noexcept;
  void end(Work& work) noexcept;
  void end_transaction() noexcept;

  bool ensure_connection() noexcept;
  bool file_is_there() noexcept;
  void probe() noexcept;
  void probe_lock() noexcept;
  void note_lock(int code) noexcept;
  Result<void> probe_file();
  Error report(int code, Bytes text);
  void refuse(WorkList& works, const Error& error) noexcept;
  static void refuse(Work& work, const Error& error, Completions& done) noexcept;
  Limits limits_of(const Work& work) const noexcept;

  const Options& options_;
  Watch& watch_;
  const std::function<Instant()>& clock_;
  Executor* executor_ = nullptr;

  // Used by drain() alone.
  std::unique_ptr<Connection> connection_;
  FileIdentity identity_;
  bool transaction_failed_ = false;
  std::optional<Error> transaction_error_;  // of the statement that failed
  bool transaction_reads_only_ = false;
  Instant waiting_since_ = {};    // for the lock
  Instant locked_since_ = never;  // another process has it
  AdaptiveSpin lingering_, gathering_;
  Instant gather_until_ = {};
  bool admits_ = false;              // to the group that runs
  bool guards_ = false;              // a savepoint for each of its writes
  std::size_t finished_works_ = 0;   // of its works
  std::size_t last_group_size_ = 0;  // works of the last group, and those that waited then

  std::atomic<bool> arrived_ = false;  // a hint: since drain() took works

  mutable std::mutex mutex_;  // what follows
  WorkList queue_;
  WorkList within_;                // works of the open transaction
  std::uint64_t transaction_ = 0;  // the open one; 0: none
  std::uint64_t transactions_begun_ = 0;
  std::uint64_t rollback_asked_ = 0;
  Instant hold_until_ = never;
  bool scheduled_ = false;
  bool probe_due_ = false;
  bool closed_ = false;
  Instant probed_at_ = {};

  Tally writes_, runs_, commits_, redone_, expired_, checkpoints_, prepared_, retries_;
  Tally refused_full_, refused_waited_, refused_unusable_, timeouts_, cancelled_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
