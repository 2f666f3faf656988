// WordHash: a keyed hash of one word, for tables with numbers as keys that clients choose. It costs
// a quarter of KeyedHash.
//
// The hash is the upper half of (a x + b) mod 2^128 (Dietzfelbinger 1996). An attacker who does not
// know a and b may choose the words. The hashes of any two words are still independent and uniform.
// n words therefore collide in m places no more often than by chance. This step is linear: an
// attacker who finds by time that two words collide would know a whole progression that does.
// Therefore a bijection that is not linear follows. It keeps the property of two words, and removes
// the progression. The hash does not protect the key against an attacker who sees hashes; use
// KeyedHash for that.
//
// Owns       its key.
// Thread     a value.
// Allocates  never.
// Fails      never.
#pragma once

#include <cstdint>

#include "katana/base/values/keyed_hash.hpp"

namespace katana {

class WordHash {
 public:
  // Takes a key of 128 bits.
  WordHash(std::uint64_t first, std::uint64_t second) noexcept {
    const KeyedHash words(first, second);
    factor_ = static_cast<Wide>(words.of(1, 0)) << 64 | words.of(2, 0);
    summand_ = static_cast<Wide>(words.of(3, 0)) << 64 | words.of(4, 0);
    mixer_ = words.of(5, 0) | 1;
  }

  // The hash of `word` under this key.
  std::uint64_t of(std::uint64_t word) const noexcept {
    auto hash = static_cast<std::uint64_t>((factor_ * word + summand_) >> 64);
    hash ^= hash >> 32;
    hash *= mixer_;
    return hash ^ hash >> 29;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  Wide factor_;
  Wide summand_;
  std::uint64_t mixer_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
