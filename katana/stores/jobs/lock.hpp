// JobLock: decides which of several instances of a program runs a tick of a job.
//
//   claim: job, tick, until     → true: it is this instance's
//
// The instance with the claim runs the job, until it gives the claim back or `until` has come. An
// instance that dies in a run therefore blocks the others no longer than that.
//
// With a lock that has a lease(), the claim lasts for the lease, and the runner renews it while the
// job runs. A job whose lease is lost is cancelled.
//
// A tick that was claimed is not claimed again. Therefore no tick runs twice while the clocks of
// the instances differ by less than the time between two ticks.
//
// LocalJobLock: for instances in one process, and for tests. database/database_lock.hpp: a lock in
// a table. redis/redis_job_lock.hpp: a lock in Redis.
//
// Owns       LocalJobLock the last claim of each job.
// Thread     calls: by coroutines of any reactor. LocalJobLock any.
// Allocates  a coroutine frame for each call.
// Fails      an Error: the lock could not be asked. The tick is not run, and counts as failed.
// Invariant  at most one of all calls with one job and tick returns true.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::jobs {

// One tick of one job, which one instance may have.
struct JobClaim {
  std::string job;  // its name
  Timestamp tick;   // of the schedule; the same for all instances
  Timestamp now;    // of this instance's clock
  Timestamp until;  // it gives the claim back before
};

class JobLock {
 public:
  virtual ~JobLock() = default;
  // False: another instance had this tick or a later one, or has not given back the last one.
  virtual Task<Result<bool>> try_acquire(JobClaim claim) = 0;
  // The run of this claim has ended; others may claim later ticks from `free_at` on.
  virtual Task<Result<void>> release(JobClaim claim, Timestamp free_at) = 0;

  // The time for which a claim lasts unless it is renewed. Zero: until JobClaim::until.
  virtual Duration lease() const noexcept { return {}; }
  // Extends the claim by a lease from now on. False: it had ended, and another instance may have
  // one.
  virtual Task<Result<bool>> renew(JobClaim) { co_return true; }
};

// A lock within one process. It never waits: a claim that another run has is refused.
class LocalJobLock final : public JobLock {
 public:
  Task<Result<bool>> try_acquire(JobClaim claim) override {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = claims_.try_emplace(claim.job, claim);
    if (is_new) co_return true;
    if (found->second.tick >= claim.tick || found->second.until > claim.now) co_return false;
    found->second = std::move(claim);
    co_return true;
  }
  Task<Result<void>> release(JobClaim claim, Timestamp free_at) override {
    const std::lock_guard lock(mutex_);
    const auto found = claims_.find(claim.job);
    if (found != claims_.end() && found->second.tick == claim.tick) found->second.until = free_at;
    co_return {};
  }

 private:
  std::mutex mutex_;  // guards claims_; not held across a suspension
  std::map<std::string, JobClaim> claims_;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
