// SessionStore: where sessions are kept on the server's side: in memory (memory_store.hpp), in a
// database (database/session_table.hpp), in Redis (redis/session_keys.hpp), or behind an
// implementation of the program's own.
//
// Owns       the records.
// Thread     calls: by coroutines of any reactor, which go on there.
// Allocates  a frame for each call, from the recycler, and what a record needs.
// Fails      with Code::unavailable where nothing is known of the session: the request is answered
//            with 503, and never as if no user had logged in.
// Invariant  a session has one key from its beginning to its end, and a version that each
//            compare_and_set() changes. A request writes a session only while the session has
//            the version that it read: a session that was ended
//            stays ended, whatever requests had begun before.
//            A store never sees the id that a client has, but digests of its parts: a reader of
//            the store cannot take over a session.
//
// The tests of all stores are those of store_suite_test.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/identity/sessions/record.hpp"
#include "katana/identity/sessions/session_id.hpp"

namespace katana::sessions {

// A session as it is in a store.
struct StoredSession {
  std::shared_ptr<const SessionRecord> record;  // never null in a store
  std::int64_t version = 0;                     // one more with each compare_and_set()
};

// What a session becomes, on condition that it is as it was read.
struct SessionWrite {
  SessionKey key = {};                               // which session the store writes
  std::optional<std::int64_t> read_version = {};     // nothing: there was no session
  std::shared_ptr<const SessionRecord> record = {};  // its seen_s is the time of the write
  std::int64_t expires_s = 0;  // the session is over from this time on, in seconds
};

class SessionStore {
 public:
  virtual ~SessionStore() = default;

  // Nothing: there is none, or its time was over at `now_s`.
  virtual Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) = 0;
  // In one step: false, and nothing is written, when the session has another version than was read,
  // is gone, or was over at record->seen_s; and when there is one although none was read. Otherwise
  // its version is read_version + 1, of a new one 0. REQUIRES a record.
  virtual Task<Result<bool>> compare_and_set(SessionWrite write) = 0;
  // Seen: it ends later. Its version stays, and one that has another version stays as it is.
  virtual Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                                   std::int64_t expires_s) = 0;
  // Whatever it has become since it was read: a logout comes before every other change. A session
  // that is gone already counts as removed.
  virtual Task<Result<void>> remove(SessionKey key) = 0;
  // All sessions of a principal. How many there were.
  virtual Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) = 0;
  // The same, but for this one, on condition that it has this version; nothing: it has another one
  // or is gone, and nothing is removed.
  virtual Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer,
                                                                  std::string principal,
                                                                  SessionKey kept,
                                                                  std::int64_t version) = 0;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
