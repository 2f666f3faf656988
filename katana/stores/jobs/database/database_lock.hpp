// DatabaseJobLock: a JobLock by a table of the program's database. One of the instances that share
// it runs each tick.
//
//   katana_job_locks: job, tick, held_until (microseconds since 1970)
//
// The table is made when the first job asks for it. A claim is one statement, which the database
// runs alone: when several instances ask at once, one of them changes the row.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do.
// Fails      as JobLock says, with the database's Error.
// Invariant  the row of a job has the last tick that was claimed.
#pragma once

#include <atomic>

#include "katana/stores/database/database.hpp"
#include "katana/stores/jobs/lock.hpp"

namespace katana::jobs {

class DatabaseJobLock final : public JobLock {
 public:
  explicit DatabaseJobLock(database::Database& database) noexcept : database_(database) {}

  Task<Result<bool>> try_acquire(JobClaim claim) override;
  Task<Result<void>> release(JobClaim claim, Timestamp free_at) override;

 private:
  database::Database& database_;
  std::atomic<bool> has_table_ = false;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
