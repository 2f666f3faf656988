#include "katana/cache/redis/redis_level.hpp"

namespace katana::cache {

Task<Result<std::optional<std::string>>> RedisLevel::get(std::string key) {
  const std::string full = prefix_ + key;
  redis::Result<std::optional<std::string>> found = co_await redis_.get(full);
  if (!found) co_return std::unexpected(found.error());
  co_return *std::move(found);
}

Task<Result<void>> RedisLevel::put(std::string key, std::string octets, Duration ttl) {
  const std::string full = prefix_ + key;
  const redis::SetOptions options{.time_to_live = ttl};
  const redis::Result<bool> set = co_await redis_.set(full, octets, options);
  if (!set) co_return std::unexpected(set.error());
  co_return {};
}

Task<Result<void>> RedisLevel::remove(std::string key) {
  redis::Command command("UNLINK", prefix_ + key);
  const redis::Result<redis::Reply> gone = co_await redis_.call(std::move(command));
  if (!gone) co_return std::unexpected(gone.error());
  co_return {};
}

Task<Result<std::optional<Lease>>> RedisLevel::try_lock(std::string key, Duration lease) {
  const redis::Result<std::optional<redis::HeldLock>> held =
      co_await locks_.try_acquire(std::move(key), lease);
  if (!held) co_return std::unexpected(held.error());
  if (!*held) co_return std::nullopt;
  co_return Lease{.token = (*held)->token};
}

Task<Result<void>> RedisLevel::unlock(std::string key, Lease lease) {
  redis::HeldLock held{std::move(key), lease.token};
  const redis::Result<bool> released = co_await locks_.release(std::move(held));
  if (!released) co_return std::unexpected(released.error());
  co_return {};
}

Result<void> RedisLevel::health() const {
  const upstream::Status status = redis_.status();
  if (status.down > 0 && status.why) return std::unexpected(*status.why);
  return {};
}

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
