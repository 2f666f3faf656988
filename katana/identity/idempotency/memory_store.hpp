// MemoryStore: keys in the memory of one process, for programs of one instance and for tests. They
// end with the process.
//
// Owns       the records.
// Thread     any. One lock, held for less than a microsecond, or longer to remove expired records.
// Allocates  for each key; kept records count in bytes_max.
// Fails      claim() with Code::resource_exhausted when it is full of unexpired keys. No key is
//            removed early, because its request could then be carried out twice. A keep() fails
//            when there is no room for the reply; the key then stays in progress for its lease.
// Invariant  the numbers of bytes and keys never exceed the options.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>

#include "katana/identity/idempotency/store.hpp"

namespace katana::idempotency {

// Limits of the store. Beyond either limit a new key is refused.
struct MemoryStoreOptions {
  std::size_t keys_max = 100'000;  // in progress and done together
  // Bytes of keys and replies, with the share of the tables.
  std::size_t bytes_max = std::size_t{64} << 20;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(MemoryStoreOptions options = {}) noexcept : options_(options) {}

  std::string words() const override { return "memory"; }
  Task<Result<Claimed>> claim(Claim claim, Duration lease) override;
  Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) override;
  Task<Result<void>> release(Claim claim) override;

  // The present state. An expired record counts until it is removed.
  struct Statistics {
    std::size_t keys = 0;   // in progress and done
    std::size_t bytes = 0;  // approximate number
  };
  // Any thread may call it.
  Statistics statistics() const;

 private:
  struct KeyHash {
    std::size_t operator()(const crypto::Sha256& key) const noexcept;
  };
  using Ends = std::multimap<Instant, crypto::Sha256>;
  struct Record {
    crypto::Sha256 fingerprint;
    std::int64_t token;
    std::string reply;  // empty: in progress
    Ends::iterator end;
  };
  using Records = std::unordered_map<crypto::Sha256, Record, KeyHash>;

  // The functions and members below need the lock.
  void erase(Records::iterator found);
  void remove_expired(Instant now);

  const MemoryStoreOptions options_;
  mutable std::mutex mutex_;
  Records records_;
  Ends ends_;
  std::size_t bytes_ = 0;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
