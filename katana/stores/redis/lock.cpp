#include "katana/stores/redis/lock.hpp"

#include <algorithm>

namespace katana::redis {
namespace {

// Takes the lock. The token is the time in microseconds, or a larger number when the last token was
// not below it. KEYS: the held lock, the last token.
const Script acquire_script(R"(
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
local token = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[2]) or 0)
if token <= last then token = last + 1 end
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text, 'EX', 604800)
redis.call('SET', KEYS[1], text, 'PX', ARGV[1])
return token)");

const Script renew_script(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2]))");

const Script release_script(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1]))");

std::string text_of(Duration lease) {
  return std::to_string(std::max<std::int64_t>(lease.count_ms(), 1));
}

}  // namespace

Task<Result<std::optional<HeldLock>>> LockTable::try_acquire(std::string name,
                                                             Duration lease) const {
  const std::string key = prefix_ + name;
  const std::string fence = key + ":fence";
  const std::string lasts_ms = text_of(lease);
  auto asked = redis_.run(acquire_script, 2, key, fence, lasts_ms);
  const Result<Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  const std::int64_t token = reply->integer().value_or(0);
  if (token <= 0) co_return std::nullopt;
  co_return HeldLock{std::move(name), static_cast<std::uint64_t>(token)};
}

Task<Result<bool>> LockTable::renew(HeldLock lock, Duration lease) const {
  const std::string key = prefix_ + lock.name;
  const std::string token = std::to_string(lock.token);
  const std::string lasts_ms = text_of(lease);
  auto asked = redis_.run(renew_script, 1, key, token, lasts_ms);
  const Result<Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  co_return reply->integer() == 1;
}

Task<Result<bool>> LockTable::release(HeldLock lock) const {
  const std::string key = prefix_ + lock.name;
  const std::string token = std::to_string(lock.token);
  auto asked = redis_.run(release_script, 1, key, token);
  const Result<Reply> reply = co_await std::move(asked);
  if (!reply) co_return std::unexpected(reply.error());
  co_return reply->integer() == 1;
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
