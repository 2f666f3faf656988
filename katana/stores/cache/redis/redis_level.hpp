// RedisLevel: the second level of a cache in Redis.
//
//   cache::Cache<User> users({…}, std::make_shared<cache::RedisLevel>(redis));
//
// A value is a key with a time to live; removing it is UNLINK. One of all instances loads a key,
// by a lock (stores/redis/lock.hpp).
//
// Each tag has a sorted set of the keys that have it. For two hours after a tag's removal Redis
// keeps the time of it, by the server's clock. A load that began before that time is not stored.
//
// Redis reports keys that other instances write or remove, or that expire (client-side caching,
// redis/listener.hpp), and the cache forgets them in memory. Redis reports own writes as well.
// Therefore the bytes behind each value name its writer. The cache is told of an own write only
// when another instance has written since. The listening user needs the right to CLIENT TRACKING.
//
// Owns       a share of the client.
// Thread     calls: any reactor's; health() any.
// Allocates  as the client's calls do.
// Fails      with the client's Error, which the cache counts before it loads.
// Invariant  each key begins with the prefix, and has a time to live. At most own_writes_max own
//            writes are remembered. The cache is told of a forgotten one as of another instance's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/cache/second_level.hpp"
#include "katana/stores/redis/listener.hpp"
#include "katana/stores/redis/lock.hpp"

namespace katana::cache {

class RedisLevel final : public SecondLevel {
 public:
  // The number of keys that this process has written and not been told of.
  static constexpr std::size_t own_writes_max = 4096;

  // Whether the level asks Redis to report changes.
  enum class Listens : std::uint8_t {
    no,   // what others write is seen when its time in memory is over
    yes,  // at once
  };
  // `prefix`: of the keys, with a ':' at its end.
  explicit RedisLevel(redis::Client client,
                      std::string prefix = "katana:cache:", Listens listens = Listens::yes);

  Task<Result<std::optional<std::string>>> get(std::string key) override;
  Task<Result<void>> put(std::string key, std::string octets, Duration ttl) override;
  Task<Result<void>> remove(std::string key) override;
  Task<Result<std::optional<Lease>>> try_lock(std::string key, Duration lease) override;
  Task<Result<void>> unlock(std::string key, Lease lease) override;
  bool listen(std::string prefix, std::weak_ptr<ChangeListener> listener) override;
  bool hears() const noexcept override { return listener_.hears(); }
  bool has_tags() const noexcept override { return true; }
  Task<Result<std::uint64_t>> tag_mark(std::string prefix) override;
  Task<Result<bool>> put_tagged(std::string key, std::string octets, Duration ttl,
                                std::string prefix, std::vector<std::string> tags,
                                std::uint64_t mark) override;
  Task<Result<void>> remove_tag(std::string prefix, std::string tag) override;
  Result<void> health() const override;

 private:
  class Changes;
  void start_listening();

  const redis::Client redis_;
  const redis::LockTable locks_;
  const std::string prefix_;
  const std::string tags_prefix_;
  const Listens listens_;
  redis::Listener listener_;
  const std::shared_ptr<Changes> changes_;
  // Some cache listens. Relaxed: it orders nothing.
  std::atomic<bool> is_asked_ = false;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
