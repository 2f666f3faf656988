// TokenCache: tokens whose signature is known to be right, of one reactor, so that the next request
// with the same token costs a comparison.
//
// Owns       its entries.
// Thread     one.
// Allocates  an entry when a token is added. find() never.
// Fails      never: what is full forgets the entry of its set that was used longest ago.
// Invariant  an entry is found by its whole text, and at most count_max of them are kept, of at
//            most bytes_max. Only verified tokens are added, so attackers cannot fill it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/identity/auth/principal.hpp"

namespace katana::auth {

class TokenCache {
 public:
  // A token, and what was found out about it.
  struct Entry {
    // As it was sent.
    std::string token;
    // Whose it is.
    Principal principal;
    Timestamp from;   // valid at and after it
    Timestamp until;  // and before it
    std::string id;   // `jti`
    // `iat`; 1970 without it.
    Timestamp issued_at;
    std::uint64_t revocations = 0;  // that it was compared with
  };

  TokenCache(std::size_t count_max, std::size_t bytes_max);

  // Null: it is not there.
  Entry* find(Bytes token) noexcept;
  void add(Entry entry);
  void remove(Bytes token) noexcept;
  void clear() noexcept;

  // Entries.
  std::size_t count() const noexcept { return count_; }
  // What they hold of the heap, in bytes: claims as they are there, not as they were sent.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t ways = 8;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  // its own time, that find() counts
    std::size_t bytes = 0;
    std::unique_ptr<Entry> entry;
  };
  std::uint64_t hash_of(Bytes token) const noexcept;
  // The first of its set.
  Slot* set_of(std::uint64_t hash) noexcept;
  void empty(Slot& slot) noexcept;

  const KeyedHash hash_;
  const std::size_t bytes_max_;
  std::vector<Slot> slots_;
  std::size_t hand_ = 0;  // where the search for what is to be forgotten goes on
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
