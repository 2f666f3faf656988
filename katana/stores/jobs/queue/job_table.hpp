// JobTable: the statements of the job queue, in the two dialects.
//
//   katana_queue_jobs: id, queue, state, priority, rank_us, due_us, until_us, queued_us, attempts,
//                      fence, job_key, key_lasts, payload, failure, worker, request_id
//
//          claim            finish
//   waiting ────▶ running ─────────▶ done (or no row)
//      ▲             │ retry, release, expire
//      ├─────────────┤
//      │  revive     ▼ bury, expire
//      └─────────── dead
//
// Times are microseconds since 1970: with PostgreSQL of the server's clock, so that processes on
// several machines agree on leases; with SQLite, whose processes share a machine, of the process's.
// rank_us is due_us less a priority's head start: jobs are claimed in its order.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do.
// Fails      with the database's Error.
// Invariant  a row whose lease is held is changed only by statements that name its fence, which
//            every claim raises: who lost the lease changes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/jobs/queue/types.hpp"

namespace katana::queue {

// What claim() gives of a row that this worker now has.
struct ClaimedJob {
  std::int64_t id = 0;         // of the row, for as long as it exists
  std::int64_t fence = 0;      // of this claim: one more than that of the claim before
  std::int64_t attempts = 0;   // this one included
  std::int64_t rank_us = 0;    // place in the order of claims; since 1970
  std::int64_t waited_us = 0;  // since it was due
  std::string payload;         // as it was queued
  std::string request_id;      // of the request that queued it; empty: none did
};
KATANA_DESCRIBE(ClaimedJob, id, fence, attempts, rank_us, waited_us, payload, request_id)

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

// What waits in a queue; counts stop at depth_max.
inline constexpr std::int64_t depth_max = 100'000;
// As depth() counts it, at one moment.
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

  // Otherwise SQLite.
  bool is_postgres() const noexcept { return is_postgres_; }
  // That it was made with.
  database::Database& database() const noexcept { return database_; }

  // The table for both databases, as migration `number` of a program that makes it itself.
  static std::vector<database::MigrationFile> migrations(unsigned number);
  // Makes what is missing. Once it has succeeded it asks nothing.
  Task<database::Result<void>> make();
  // The same within a transaction, whose commit makes it true.
  Task<database::Result<void>> make_in(database::Queries queries);
  void assume_made() noexcept { made_.store(true, std::memory_order_relaxed); }

  // Nothing: a job with its key is there.
  Task<database::Result<std::optional<std::int64_t>>> insert(database::Queries in,
                                                             std::string queue, std::string payload,
                                                             EnqueueOptions options,
                                                             std::string request_id, bool notifies);
  Task<database::Result<std::optional<std::int64_t>>> find_key(database::Queries in,
                                                               std::string queue, std::string key);

  // At most `count`, in their order.
  Task<database::Result<std::vector<ClaimedJob>>> claim(std::string queue, std::int64_t count,
                                                        Duration lease, std::string worker);
  // Those of them whose lease this worker still has, and now has for so long.
  Task<database::Result<std::vector<Lease>>> renew(std::string queue, std::string worker,
                                                   std::vector<std::int64_t> ids, Duration lease);
  // Each: false when the lease was lost. `keep`: the row stays, as done.
  Task<database::Result<bool>> finish(database::Queries in, Lease lease, bool keep);
  Task<database::Result<bool>> retry(Lease lease, Duration after, std::string failure);
  Task<database::Result<bool>> bury(Lease lease, std::string failure);
  // Back to where it was: the attempt does not count.
  Task<database::Result<bool>> release(Lease lease);

  // Jobs whose lease is over wait again, or are dead after their last attempt; a hundred at most.
  Task<database::Result<std::vector<ExpiredJob>>> expire(std::string queue,
                                                         std::int64_t attempts_max);
  // Rows of that state that ended so long ago, or are more than `most`; 500 at most.
  Task<database::Result<std::int64_t>> purge(std::string queue, JobState state, Duration kept,
                                             std::int64_t most);
  Task<database::Result<QueueDepth>> depth(std::string queue);

  // At most `count` of that state, in the order of their ids, from behind `after`.
  Task<database::Result<std::vector<JobInfo>>> list(std::string queue, JobState state,
                                                    std::int64_t after, std::int64_t count);
  // Dead letters wait again, one of that id or, with 0, `count` of the queue.
  Task<database::Result<std::int64_t>> revive(std::string queue, std::int64_t id,
                                              std::int64_t count);
  // One that does not run. False: there is none.
  Task<database::Result<bool>> discard(std::string queue, std::int64_t id);

 private:
  // Zero where the server's clock counts, which the statements add.
  std::int64_t now_us() const noexcept;

  database::Database& database_;
  const bool is_postgres_;
  std::atomic<bool> made_ = false;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
