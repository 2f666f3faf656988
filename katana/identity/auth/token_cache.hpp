// TokenCache: the tokens of one reactor with a verified signature. The next request with the same
// token then costs only a comparison.
//
// Owns       its entries.
// Thread     one.
// Allocates  an entry when a token is added. find() never.
// Fails      never: a full set drops its least recently used entry.
// Invariant  an entry is found by its whole text. It keeps at most count_max entries of at most
//            bytes_max bytes. Only verified tokens are added: attackers cannot fill it.
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
  // A token with the result of its verification.
  struct Entry {
    // The token as it was sent.
    std::string token;
    // The principal of the token.
    Principal principal;
    Timestamp from;   // valid at and after this time
    Timestamp until;  // valid before this time
    std::string id;   // `jti`
    // `iat`; the year 1970 without it.
    Timestamp issued_at;
    std::uint64_t revocations = 0;  // generation of the checked Revocations
  };

  TokenCache(std::size_t count_max, std::size_t bytes_max);

  // The entry of a token; null: there is none.
  Entry* find(Bytes token) noexcept;
  void add(Entry entry);
  void remove(Bytes token) noexcept;
  void clear() noexcept;

  // The number of entries.
  std::size_t count() const noexcept { return count_; }
  // The heap bytes of all entries, with their claims in decoded form.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t ways = 8;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  // last use, on a clock that find() advances
    std::size_t bytes = 0;
    std::unique_ptr<Entry> entry;
  };
  std::uint64_t hash_of(Bytes token) const noexcept;
  // The first slot of the set of a hash.
  Slot* set_of(std::uint64_t hash) noexcept;
  void empty(Slot& slot) noexcept;

  const KeyedHash hash_;
  const std::size_t bytes_max_;
  std::vector<Slot> slots_;
  std::size_t hand_ = 0;  // place where the search for an entry to drop goes on
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
