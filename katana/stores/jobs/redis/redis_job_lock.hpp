// RedisJobLock: a JobLock in Redis. One of the instances that share it runs each tick.
//
//   PREFIXNAME:tick   the last tick that was claimed, in microseconds; kept for a week
//   PREFIXNAME:held   the tick that is held, for a lease at a time
//
// A claim lasts for a lease, and the instance that runs the job renews it. An instance that dies
// keeps the others waiting for one lease, not for the job's timeout. A claim is one script, which
// Redis runs alone.
//
// A Redis that is restarted without its data has forgotten the last claimed tick: one tick may then
// run twice. A job that must not write twice compares JobRun::fence.
//
// Owns       a share of the client.
// Thread     any reactor's.
// Allocates  as the client's calls do.
// Fails      as JobLock says, with the client's Error. When the outcome of a claim is unknown the
//            tick is not run here, and perhaps nowhere.
// Invariant  fences of a job grow, by the clocks of the instances that claim its ticks.
#pragma once

#include <string>
#include <utility>

#include "katana/stores/jobs/lock.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::jobs {

class RedisJobLock final : public JobLock {
 public:
  // `prefix`: of the keys. REQUIRES a lease of a second or more.
  explicit RedisJobLock(redis::Client client, Duration lease = seconds(30),
                        std::string prefix = "katana:job:");

  Task<Result<bool>> try_acquire(JobClaim claim) override;
  Task<Result<void>> release(JobClaim claim, Timestamp free_at) override;
  Duration lease() const noexcept override { return lease_; }
  Task<Result<bool>> renew(JobClaim claim) override;

 private:
  const redis::Client redis_;
  const Duration lease_;
  const std::string prefix_;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
