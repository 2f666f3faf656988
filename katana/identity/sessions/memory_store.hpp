// MemorySessionStore: sessions in the memory of one process, for programs of one instance and for
// tests. They end with the process.
//
//   auto store = std::make_shared<sessions::MemorySessionStore>();
//
// Owns       the records.
// Thread     any. One lock, held for less than a microsecond.
// Allocates  for each session; its bytes count in bytes_max.
// Fails      compare_and_set() returns Code::resource_exhausted (503) when the store is full.
//            Before that it drops sessions without a user, the longest unseen first.
// Invariant  a session of a user who has logged in is never dropped for lack of room.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

#include "katana/identity/sessions/memory_store_options.hpp"
#include "katana/identity/sessions/store.hpp"

namespace katana::sessions {

class MemorySessionStore final : public SessionStore {
 public:
  explicit MemorySessionStore(MemoryStoreOptions options = {}) noexcept : options_(options) {}

  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override;
  Task<Result<bool>> compare_and_set(SessionWrite write) override;
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override;
  Task<Result<void>> remove(SessionKey key) override;
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override;
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override;

  // The present state, and counters since the store was made.
  struct Statistics {
    std::size_t sessions = 0;     // kept sessions, including expired ones
    std::size_t bytes = 0;        // approximate size of the sessions
    std::uint64_t forgotten = 0;  // sessions that were dropped for lack of room
  };
  // Any thread may call it.
  Statistics statistics() const;

 private:
  struct Entry;
  using Order = std::list<SessionKey>;  // the longest unseen first
  struct KeyHash {
    std::size_t operator()(const SessionKey& key) const noexcept;
  };
  using Sessions = std::unordered_map<SessionKey, Entry, KeyHash>;
  struct Entry {
    StoredSession session;
    std::int64_t expires_s;
    std::size_t bytes;
    Order::iterator place;
  };

  // The functions and members below need the lock.
  Order& order_of(const SessionRecord& record) noexcept {
    return record.principal.empty() ? nobodys_ : users_;
  }
  void erase(Sessions::iterator found);
  void insert(const SessionKey& key, StoredSession session, std::int64_t expires_s);
  std::int64_t erase_all(const std::string& issuer, const std::string& principal,
                         const SessionKey* kept);
  void evict(std::size_t bytes, std::int64_t now_s);
  bool fits(std::size_t bytes) const noexcept {
    return sessions_.size() < options_.sessions_max && bytes_ + bytes <= options_.bytes_max;
  }

  const MemoryStoreOptions options_;
  mutable std::mutex mutex_;
  Sessions sessions_;
  std::unordered_multimap<std::string, SessionKey> by_principal_;
  Order nobodys_;
  Order users_;
  std::size_t bytes_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
