// SessionStore: where sessions are kept on the server's side: in memory (memory_store.hpp), in a
// database (database/session_table.hpp), or behind an implementation of the program's own.
//
// Owns       the records.
// Thread     calls: by coroutines of any reactor, which go on there.
// Allocates  a frame for each call, from the recycler, and what a record needs.
// Fails      with Code::unavailable where nothing is known of the session: the request is answered
//            with 503, and never as if nobody had logged in.
// Invariant  a store never sees the id that a client has, but its SHA-256: who reads the store
//            cannot take over a session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/result.hpp"
#include "katana/base/task.hpp"
#include "katana/crypto/digest.hpp"
#include "katana/service/sessions/record.hpp"

namespace katana::sessions {

// The digest of the id that a client has.
using SessionKey = crypto::Sha256;

// A session as it is in a store.
struct StoredSession {
  std::shared_ptr<const SessionRecord> record;  // never null in a store
  std::int64_t version = 0;                     // one more with each update()
};

class SessionStore {
 public:
  virtual ~SessionStore() = default;

  // Nothing: there is none, or its time was over at `now_s`.
  virtual Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) = 0;
  // The key is a new one: nobody has chosen it.
  virtual Task<Result<void>> create(SessionKey key, StoredSession session,
                                    std::int64_t expires_s) = 0;
  // Replaces what has session.version; its version is one more then. False: it has another one, or
  // is gone.
  virtual Task<Result<bool>> update(SessionKey key, StoredSession session,
                                    std::int64_t expires_s) = 0;
  // Seen: it ends later. Its version stays. What is gone stays gone.
  virtual Task<Result<void>> touch(SessionKey key, std::int64_t seen_s, std::int64_t expires_s) = 0;
  // What is gone already is as good as removed.
  virtual Task<Result<void>> remove(SessionKey key) = 0;
  // All sessions of a principal but `kept`. How many there were.
  virtual Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal,
                                                std::optional<SessionKey> kept) = 0;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
