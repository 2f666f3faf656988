// SharedRate: limits the requests for each key, counted by all instances of a program together.
//
//   redis::SharedRate rate(redis, {.per_second = 50, .burst = 100});
//   const redis::RateVerdict verdict = co_await rate.take(client);
//   if (!verdict.passes) co_return too_many(verdict.wait);
//
// A token bucket for each key is in Redis. An instance takes `lease` tokens of it at a time, and
// spends them without asking: one of `lease` requests waits for Redis. A refused key is refused
// without asking until a token can be there: a flood of one client is then no flood of commands.
//
//   of one key, in any time T:  admitted ≤ burst + per_second × T + instances × (lease − 1)
//
// The last term is there because an instance may spend its leased tokens until the lease ends. The
// rest of a lease is lost: a key whose requests go to many instances may be refused earlier by as
// many.
//
// Owns       a share of the client; the leased tokens of keys_max keys. When there are more keys,
//            leased tokens are forgotten: requests are then refused earlier, never later.
// Thread     any reactor's; a lock is held for a look into a part of the table.
// Allocates  an entry for each key that is leased, and as the client's calls do.
// Fails      never: while Redis cannot be asked, `when_down` says whether requests pass. The
//            executor's observer is told the reason, once. After a failure Redis is not asked for
//            retry_after, and then one request tries.
// Invariant  the clock of buckets is the server's, that of leases the reactor's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::redis {

// The verdict while Redis cannot be asked.
enum class WhenDown : std::uint8_t { pass, refuse };

// The rate of requests of a key, and the tokens that an instance may hold.
struct SharedRateOptions {
  double per_second = 10;    // on average; above 0
  std::uint32_t burst = 20;  // at once; at least 1
  // The number of tokens that are taken at a time, at most a burst. 1: each request asks.
  std::uint32_t lease = 5;
  Duration lease_time = seconds(1);
  // `timeout`: the longest wait of a request for Redis. `retry_after`: after a failure no request
  // waits for this long.
  Duration timeout = milliseconds(100);
  Duration retry_after = milliseconds(500);
  WhenDown when_down = WhenDown::pass;
  std::size_t keys_max = 64 * 1024;
  std::string prefix = "katana:rate:";
};

// The verdict on a request.
struct RateVerdict {
  bool passes = false;    // it is counted
  Duration wait = {};     // of one that does not: until a token is there
  bool is_known = false;  // false: Redis could not be asked
};

class SharedRate {
 public:
  SharedRate(Client client, SharedRateOptions options);

  // Takes a token for one request of that key.
  Task<RateVerdict> take(std::string key);
  // take() in two halves. look() returns a verdict if there is one without asking Redis. Nothing:
  // call ask(), without a wait before it.
  std::optional<RateVerdict> look(Bytes key, Instant now);
  Task<RateVerdict> ask(std::string key);
  // The rate from the next request that asks on. Any thread. REQUIRES a rate above 0 and a burst of
  // 1 or more.
  void set_rate(double per_second, std::uint32_t burst);

 private:
  static constexpr std::size_t shards = 16;
  struct Held {
    std::uint32_t tokens = 0;
    std::uint32_t asking = 0;  // requests that have not got their reply
    Instant until = {};        // of the tokens
    Instant refused_until = {};
    Instant token_at = {};  // of a refusal
  };
  // A shard is at least as large as a cache line: two locks then do not share one.
  struct alignas(64) Shard {
    std::mutex mutex;                              // guards `held`; not held across a suspension
    std::unordered_map<std::uint64_t, Held> held;  // by the hash of the key
  };
  // One request that asks Redis. The first of its key (`is_first`) takes a lease, others take only
  // the tokens that they need. A request does not ask when another reactor got an answer since
  // look(). A second lease would exceed the kept tokens, and would be lost to all instances.
  struct Asking {
    Asking(SharedRate& of, std::uint64_t of_key, Instant now);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    SharedRate& rate;
    const std::uint64_t hash;
    std::optional<RateVerdict> known;
    bool is_first = false;
  };

  Shard& shard_of(std::uint64_t hash) noexcept { return shards_[hash % shards]; }
  std::optional<RateVerdict> verdict_of(Shard& shard, std::uint64_t hash, Instant now);
  Held& entry_of(Shard& shard, std::uint64_t hash);
  bool may_ask(Instant now) noexcept;
  RateVerdict note_failure(const katana::Error& why, Instant now) noexcept;
  RateVerdict note_refused(std::uint64_t hash, Duration wait, Instant now);
  void keep(std::uint64_t hash, std::uint32_t tokens, Instant now);
  std::uint32_t lease() const noexcept;
  // The name in Redis of a key of any length.
  std::string name_of(const std::string& key) const;

  const Client redis_;
  const SharedRateOptions options_;
  const KeyedHash hash_;
  // Relaxed: independent values that order nothing.
  std::atomic<double> per_second_;
  std::atomic<std::uint32_t> burst_;
  std::atomic<std::int64_t> down_until_ns_ = 0;  // 0: Redis answers
  std::array<Shard, shards> shards_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
