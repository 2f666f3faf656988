// RedisLevel: the second level of a cache in Redis.
//
//   cache::Cache<User> users({…}, std::make_shared<cache::RedisLevel>(redis));
//
// A value is a key with a time to live; removing it is UNLINK. One of all instances loads a key,
// by a lock (redis/lock.hpp). What others write is not told of: it is seen when its time in memory
// is over (SecondLevelOptions::memory_ttl_max).
//
// Owns       a share of the client.
// Thread     calls: any reactor's; health() any.
// Allocates  as the client's calls do.
// Fails      with the client's Error, which the cache counts before it loads.
// Invariant  each key begins with the prefix, and has a time to live.
#pragma once

#include <string>
#include <utility>

#include "katana/cache/second_level.hpp"
#include "katana/redis/lock.hpp"

namespace katana::cache {

class RedisLevel final : public SecondLevel {
 public:
  explicit RedisLevel(redis::Client client, std::string prefix = "katana:cache:")
      : redis_(client), locks_(std::move(client), prefix + "lock:"), prefix_(std::move(prefix)) {}

  Task<Result<std::optional<std::string>>> get(std::string key) override;
  Task<Result<void>> put(std::string key, std::string octets, Duration ttl) override;
  Task<Result<void>> remove(std::string key) override;
  Task<Result<std::optional<Lease>>> try_lock(std::string key, Duration lease) override;
  Task<Result<void>> unlock(std::string key, Lease lease) override;
  Result<void> health() const override;

 private:
  const redis::Client redis_;
  const redis::LockTable locks_;
  const std::string prefix_;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
