// SessionStore: keeps sessions on the server's side. Implementations use memory (memory_store.hpp),
// a database (database/session_table.hpp) or Redis (redis/session_keys.hpp). A program may
// implement another one.
//
// Owns       the records.
// Thread     calls: by coroutines of any reactor, which go on there.
// Allocates  a frame for each call, from the recycler, and the records.
// Fails      with Code::unavailable if the store does not answer. The request is then answered with
//            503, and never as if no user had logged in.
// Invariant  a session has one key from its beginning to its end, and a version that each
//            compare_and_set() changes. A request writes a session only if its version is still
//            the one that was read. An ended session therefore stays ended, whatever requests began
//            before. A store sees only digests of the parts of an id, and never the id of a client.
//            A reader of the store therefore cannot take over a session.
//
// The tests of all stores are in store_suite_test.hpp.
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
  std::int64_t version = 0;                     // grows by one with each compare_and_set()
};

// A new record of a session, to be written only if the session is unchanged since it was read.
struct SessionWrite {
  SessionKey key = {};                               // the session to be written
  std::optional<std::int64_t> read_version = {};     // nothing: there was no session
  std::shared_ptr<const SessionRecord> record = {};  // its seen_s is the time of the write
  std::int64_t expires_s = 0;  // the session is over from this time on, in seconds
};

class SessionStore {
 public:
  virtual ~SessionStore() = default;

  // Loads a session; nothing: there is none, or it had ended at `now_s`.
  virtual Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) = 0;
  // Writes a session in one atomic step. False, and nothing is written: the session has another
  // version than the one read, is gone, or had ended at record->seen_s. It is also false when a
  // session exists although none was read. The new version is read_version + 1; that of a new
  // session is 0. REQUIRES a record.
  virtual Task<Result<bool>> compare_and_set(SessionWrite write) = 0;
  // Notes that the session was seen, and moves its end. Its version stays. A session with another
  // version stays unchanged.
  virtual Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                                   std::int64_t expires_s) = 0;
  // Removes a session with any version: a logout has priority over every other change. A missing
  // session counts as removed.
  virtual Task<Result<void>> remove(SessionKey key) = 0;
  // Removes all sessions of a principal, and returns their number.
  virtual Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) = 0;
  // Removes all other sessions of a principal, if the session `kept` has this version. Returns
  // their number; nothing: it has another version or is gone, and no session is removed.
  virtual Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer,
                                                                  std::string principal,
                                                                  SessionKey kept,
                                                                  std::int64_t version) = 0;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
