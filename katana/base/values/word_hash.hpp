// WordHash: a keyed hash of one word, for tables whose keys are numbers that clients choose: at a
// quarter of what KeyedHash costs.
//
// (a x + b) mod 2^128, of which the upper half (Dietzfelbinger 1996): whatever words somebody
// chooses who does not know a and b, the hashes of two of them are independent and uniform, so n of
// them meet in m places no more often than by chance. It is linear, though: who learned, by time,
// that two words meet would know a whole progression that does. Therefore a bijection that is not
// linear follows, which keeps what was said of two words and leaves nothing of the progression. For
// who sees hashes it is no secret; KeyedHash is made for more.
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
  // From a key of 128 bits.
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
