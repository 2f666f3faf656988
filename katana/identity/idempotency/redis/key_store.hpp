// RedisStore: keys in Redis, which all instances share.
//
//   auto store = std::make_shared<idempotency::RedisStore>(redis);
//
//   PREFIXidempotency:KEY   a hash: fingerprint, token, and reply once it is done
//
// Requests whose keys Redis has lost are carried out again: it restarted without persistence,
// failed over to a replica that was behind, or evicted keys. To prevent that, give it `appendonly
// yes` and a `maxmemory-policy` of noeviction, or take the database.
//
// Owns       a share of the client.
// Thread     any reactor's.
// Allocates  as the client's calls do, and texts.
// Fails      Code::unavailable with the client's Error.
// Invariant  a key is changed by one script, which finds it by its token. Redis deletes it when its
//            lease, or the time of its reply, ends.
#pragma once

#include <string>
#include <utility>

#include "katana/identity/idempotency/store.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::idempotency {

class RedisStore final : public Store {
 public:
  // `prefix`: of the keys, where several programs share a Redis.
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
