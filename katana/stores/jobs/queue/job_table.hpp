// JobTable: the statements of the job queue, in the two dialects.
//
//   katana_queue_jobs: id, queue, state, priority, rank_us, due_us, until_us, queued_us, attempts,
//                      fence, job_key, key_lasts, payload, failure, worker, request_id, trace
//
//          claim            finish
//   waiting ────▶ running ─────────▶ done (or no row)
//      ▲             │ retry, release, expire
//      ├─────────────┤
//      │  revive     ▼ bury, expire
//      └─────────── dead
//
// Times are microseconds since 1970. With PostgreSQL the server's clock tells them: processes on
// several machines then agree on leases. With SQLite, whose processes share a machine, the
// process's clock tells them. Jobs are claimed in the order of rank_us, which is due_us less the
// priority's head start.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do.
// Fails      with the database's Error.
// Invariant  a row whose lease is held is changed only by statements that name its fence. Every
//            claim raises the fence: a worker that lost the lease changes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/jobs/queue/trace_column.hpp"
#include "katana/stores/jobs/queue/types.hpp"

namespace katana::queue {

// A job that claim() gave to this worker.
struct ClaimedJob {
  std::int64_t id = 0;         // of the row, for as long as it exists
  std::int64_t fence = 0;      // of this claim: one more than that of the claim before
  std::int64_t attempts = 0;   // this one included
  std::int64_t rank_us = 0;    // place in the order of claims; since 1970
  std::int64_t waited_us = 0;  // since it was due
  std::string payload;         // as it was queued
  std::string request_id;      // of the request that queued it; empty: none did
  std::string trace;           // of the span that queued it, as traceparent; empty: none did
};
KATANA_DESCRIBE(ClaimedJob, id, fence, attempts, rank_us, waited_us, payload, request_id, trace)

// The work that queues a job.
struct Producer {
  std::string request_id;  // empty: no request
  std::string trace;       // of its span, as traceparent; empty: it is not traced
};

// The place of an insertion.
struct InsertMode {
  bool in_transaction = false;  // it is a part of a larger transaction
  bool notifies = false;        // PostgreSQL: it notifies workers
};

// A job whose lease a worker has or had.
struct Lease {
  std::int64_t id = 0;     // of the job
  std::int64_t fence = 0;  // of its claim: another's is greater, and this one's calls give false
};
KATANA_DESCRIBE(Lease, id, fence)

// A job whose worker let its lease end: it died, was stopped, or lost the database.
struct ExpiredJob {
  std::int64_t id = 0;                 // of the row
  std::int64_t attempts = 0;           // the one that was lost included
  JobState state = JobState::waiting;  // from now on: waiting, or dead after the last attempt
};

// The counts of a QueueDepth stop here.
inline constexpr std::int64_t depth_max = 100'000;
// The numbers of jobs in a queue, as depth() counts them at one moment.
struct QueueDepth {
  std::int64_t ready = 0;      // due, and not begun
  std::int64_t delayed = 0;    // due later
  std::int64_t running = 0;    // claimed by a worker of any process
  std::int64_t dead = 0;       // dead letters that are kept
  std::int64_t waited_us = 0;  // how long the next one has been due
};
KATANA_DESCRIBE(QueueDepth, ready, delayed, running, dead, waited_us)

class JobTable {
 public:
  explicit JobTable(database::Database& database) noexcept;

  // False: the database is SQLite.
  bool is_postgres() const noexcept { return is_postgres_; }
  // The database that the table was made with.
  database::Database& database() const noexcept { return database_; }

  // The table for both databases, as migration `number` of a program that makes it itself. Its
  // text never changes, because databases have its checksum: it has no column `trace`.
  static std::vector<database::MigrationFile> migrations(unsigned number);
  // The column `trace` for that table, as a later migration.
  static std::vector<database::MigrationFile> trace_migrations(unsigned number);
  // Makes what is missing: the table and its indexes. After a success further calls make no
  // statement. A column that an earlier version's table lacks is made when it is first needed.
  Task<database::Result<void>> make();
  // The same within a transaction; it takes effect with the commit.
  Task<database::Result<void>> make_in(database::Queries queries);
  // The program's migrations make the table and its columns. REQUIRES that no call runs yet.
  void assume_made() noexcept {
    made_.store(true, std::memory_order_relaxed);
    trace_column_.leave_to_migrations();
  }

  // Inserts a job and returns its id. Nothing: a job with its key is there.
  Task<database::Result<std::optional<std::int64_t>>> insert(database::Queries in,
                                                             std::string queue, std::string payload,
                                                             EnqueueOptions options,
                                                             Producer producer, InsertMode mode);
  Task<database::Result<std::optional<std::int64_t>>> find_key(database::Queries in,
                                                               std::string queue, std::string key);

  // Claims at most `count` jobs, in the order of rank_us.
  Task<database::Result<std::vector<ClaimedJob>>> claim(std::string queue, std::int64_t count,
                                                        Duration lease, std::string worker);
  // Renews the leases that this worker still has for `lease`, and returns them.
  Task<database::Result<std::vector<Lease>>> renew(std::string queue, std::string worker,
                                                   std::vector<std::int64_t> ids, Duration lease);
  // These return false when the lease was lost. `keep`: the row stays, as done.
  Task<database::Result<bool>> finish(database::Queries in, Lease lease, bool keep);
  Task<database::Result<bool>> retry(Lease lease, Duration after, std::string failure);
  Task<database::Result<bool>> bury(Lease lease, std::string failure);
  // Puts the job back where it was: the attempt does not count.
  Task<database::Result<bool>> release(Lease lease);

  // Takes at most a hundred jobs whose lease is over: they wait again, or are dead after their last
  // attempt.
  Task<database::Result<std::vector<ExpiredJob>>> expire(std::string queue,
                                                         std::int64_t attempts_max);
  // Removes at most 500 rows of that state that ended at least `kept` ago, or exceed `most`.
  Task<database::Result<std::int64_t>> purge(std::string queue, JobState state, Duration kept,
                                             std::int64_t most);
  Task<database::Result<QueueDepth>> depth(std::string queue);

  // At most `count` jobs of that state, in the order of their ids, from behind `after`.
  Task<database::Result<std::vector<JobInfo>>> list(std::string queue, JobState state,
                                                    std::int64_t after, std::int64_t count);
  // Dead letters wait again, one of that id or, with 0, `count` of the queue.
  Task<database::Result<std::int64_t>> revive(std::string queue, std::int64_t id,
                                              std::int64_t count);
  // Removes a job that does not run. False: there is none.
  Task<database::Result<bool>> discard(std::string queue, std::int64_t id);

 private:
  Task<database::Result<void>> make_missing_in(database::Queries queries);
  // The time for SQLite. Zero for PostgreSQL, whose statements add the server's time.
  std::int64_t now_us() const noexcept;

  database::Database& database_;
  const bool is_postgres_;
  std::atomic<bool> made_ = false;
  TraceColumn trace_column_;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
