// RedisSessionStore: sessions in a Redis that all instances share.
//
//   auto store = std::make_shared<sessions::RedisSessionStore>(redis);
//
//   PREFIXsession:ID       a hash: record, seen, expires, version, owner
//   PREFIXsessions:OWNER   a sorted set: the ids of one principal by their end
//
// Ids and principals are stored as SHA-256. Redis loses sessions when it restarts without
// persistence, or evicts keys. Their users must log in again.
//
// Owns       a share of the client.
// Thread     any reactor's.
// Allocates  texts, and as the calls of the client do.
// Fails      Code::unavailable for every Error of the client.
// Invariant  a session is changed by one script, which finds it by its version. Redis deletes it a
//            minute after its end, which the clock of the caller decides.
#pragma once

#include <string>
#include <utility>

#include "katana/identity/sessions/store.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::sessions {

class RedisSessionStore final : public SessionStore {
 public:
  // `prefix` begins all keys, and keeps programs apart that share a Redis.
  explicit RedisSessionStore(redis::Client client, std::string prefix = "katana:")
      : redis_(std::move(client)), prefix_(std::move(prefix)) {}

  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override;
  Task<Result<bool>> compare_and_set(SessionWrite write) override;
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override;
  Task<Result<void>> remove(SessionKey key) override;
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override;
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override;

 private:
  const redis::Client redis_;
  const std::string prefix_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
