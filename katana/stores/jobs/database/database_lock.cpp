#include "katana/stores/jobs/database/database_lock.hpp"

#include <utility>
#include <vector>

#include "katana/stores/database/make_missing.hpp"

namespace katana::jobs {
namespace {

constexpr database::SqlFor<> table(
    "CREATE TABLE IF NOT EXISTS katana_job_locks (job TEXT PRIMARY KEY, tick BIGINT NOT NULL, "
    "held_until BIGINT NOT NULL)");

std::int64_t us_of(Timestamp time) noexcept { return time.time_since_epoch().count(); }

}  // namespace

Task<Result<bool>> DatabaseJobLock::try_acquire(JobClaim claim) {
  if (!has_table_.load(std::memory_order_relaxed)) {
    const database::Queries& queries = database_;
    std::vector<database::SqlFor<>> missing = {table};
    const database::Result<void> made =
        co_await database::make_missing(queries, std::move(missing));
    if (!made) co_return std::unexpected(made.error().within("the table katana_job_locks"));
    has_table_.store(true, std::memory_order_relaxed);
  }
  const Result<std::int64_t> changed = co_await database_.execute(
      "INSERT INTO katana_job_locks (job, tick, held_until) VALUES ($1, $2, $3) "
      "ON CONFLICT (job) DO UPDATE SET tick = $2, held_until = $3 "
      "WHERE katana_job_locks.tick < $2 AND katana_job_locks.held_until <= $4",
      claim.job, us_of(claim.tick), us_of(claim.until), us_of(claim.now));
  if (!changed) co_return std::unexpected(changed.error());
  co_return *changed == 1;
}

Task<Result<void>> DatabaseJobLock::release(JobClaim claim, Timestamp free_at) {
  const Result<std::int64_t> changed = co_await database_.execute(
      "UPDATE katana_job_locks SET held_until = $3 WHERE job = $1 AND tick = $2", claim.job,
      us_of(claim.tick), us_of(free_at));
  if (!changed) co_return std::unexpected(changed.error());
  co_return {};
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
