#include "katana/stores/jobs/redis/redis_job_lock.hpp"

#include <algorithm>
#include <chrono>

#include "katana/base/system/check.hpp"

namespace katana::jobs {
namespace {

// tick, lease in milliseconds
const redis::Script claim_script(R"(
local last = redis.call('GET', KEYS[1])
if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', 604800)
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1)");

// tick, for how long from now on in milliseconds; 0: no longer
const redis::Script hold_script(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) <= 0 then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2]))");

std::int64_t us_of(Timestamp time) noexcept { return time.time_since_epoch().count(); }

}  // namespace

RedisJobLock::RedisJobLock(redis::Client client, Duration lease, std::string prefix)
    : redis_(std::move(client)), lease_(lease), prefix_(std::move(prefix)) {
  KATANA_REQUIRE(lease_ >= seconds(1));
}

Task<Result<bool>> RedisJobLock::try_acquire(JobClaim claim) {
  const std::string tick = prefix_ + claim.job + ":tick";
  const std::string held = prefix_ + claim.job + ":held";
  auto asked = redis_.run(claim_script, 2, tick, held, us_of(claim.tick), lease_.count_ms());
  const redis::Result<redis::Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  co_return reply->integer() == 1;
}

Task<Result<bool>> RedisJobLock::renew(JobClaim claim) {
  const std::string held = prefix_ + claim.job + ":held";
  auto asked = redis_.run(hold_script, 1, held, us_of(claim.tick), lease_.count_ms());
  const redis::Result<redis::Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  co_return reply->integer() == 1;
}

Task<Result<void>> RedisJobLock::release(JobClaim claim, Timestamp free_at) {
  const std::string held = prefix_ + claim.job + ":held";
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(free_at - current_time()).count();
  const std::int64_t left_ms = std::max<std::int64_t>(left, 0);
  auto asked = redis_.run(hold_script, 1, held, us_of(claim.tick), left_ms);
  const redis::Result<redis::Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  co_return {};
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
