// SharedRate: so many requests for each key, counted by all instances of a program together.
//
//   redis::SharedRate rate(redis, {.per_second = 50, .burst = 100});
//   const redis::RateVerdict verdict = co_await rate.take(client);
//   if (!verdict.passes) co_return too_many(verdict.wait);
//
// A token bucket for each key is in Redis. An instance takes `lease` tokens of it at a time, and
// spends them without asking: of `lease` requests one waits for Redis.
//
//   of one key, in any time T:  admitted ≤ burst + per_second × T + instances × (lease − 1)
//
// because what an instance has leased it may spend until the lease ends. A lease that is not spent
// is lost, so a key whose requests go to many instances may be refused earlier by as much.
//
// Owns       a share of the client; what is leased, of keys_max keys. When there are more, what is
//            leased is forgotten: refused earlier, never later.
// Thread     any reactor's; a lock is held for a look into a table.
// Allocates  an entry for each key that is leased, and as the client's calls do.
// Fails      never: while Redis cannot be asked `when_down` says whether requests pass.
// Invariant  the clock of buckets is the server's, that of leases the reactor's.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "katana/base/task.hpp"
#include "katana/redis/client.hpp"

namespace katana::redis {

// While Redis cannot be asked.
enum class WhenDown : std::uint8_t { pass, refuse };

struct SharedRateOptions {
  double per_second = 10;    // on average; above 0
  std::uint32_t burst = 20;  // at once; at least 1
  // Tokens that are taken at a time; at most a burst. 1: each request asks.
  std::uint32_t lease = 5;
  Duration lease_time = seconds(1);
  WhenDown when_down = WhenDown::pass;
  std::size_t keys_max = 64 * 1024;
  std::string prefix = "katana:rate:";
};

struct RateVerdict {
  bool passes = false;
  Duration wait = {};     // of one that does not: until a token is there
  bool is_known = false;  // false: Redis could not be asked
};

class SharedRate {
 public:
  SharedRate(Client client, SharedRateOptions options);

  Task<RateVerdict> take(std::string key);

 private:
  struct Leased {
    std::uint32_t tokens = 0;
    Instant until = {};
  };
  bool take_leased(const std::string& key, Instant now);
  void keep(const std::string& key, std::uint32_t tokens, Instant now);

  const Client redis_;
  const SharedRateOptions options_;
  std::mutex mutex_;  // guards leased_; not held across a suspension
  std::unordered_map<std::string, Leased> leased_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
