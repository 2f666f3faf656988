// RedisStore: keys in a Redis that all instances share.
//
//   auto store = std::make_shared<idempotency::RedisStore>(redis);
//
//   PREFIXidempotency:KEY   a hash: fingerprint, token, and the reply of a finished request
//
// A request is carried out again if Redis has lost its key. Redis loses keys when it restarts
// without persistence, fails over to a replica that is behind, or evicts keys. To prevent that, set
// `appendonly yes` and a `maxmemory-policy` of noeviction, or use the database.
//
// Owns       a share of the client.
// Thread     any reactor's.
// Allocates  texts, and as the calls of the client do.
// Fails      Code::unavailable with the client's Error.
// Invariant  one script changes a key, and finds it by its token. Redis deletes it when its lease,
//            or the time of its reply, ends.
#pragma once

#include <string>
#include <utility>

#include "katana/identity/idempotency/store.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::idempotency {

class RedisStore final : public Store {
 public:
  // `prefix` begins all keys, and keeps programs apart that share a Redis.
  explicit RedisStore(redis::Client client, std::string prefix = "katana:")
      : redis_(std::move(client)), prefix_(std::move(prefix)) {}

  std::string words() const override { return "redis"; }
  Task<Result<Claimed>> claim(Claim claim, Duration lease) override;
  Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) override;
  Task<Result<void>> release(Claim claim) override;

 private:
  std::string key_of(const Claim& claim) const;

  const redis::Client redis_;
  const std::string prefix_;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
