// Crc32c: the checksum of Castagnoli's polynomial (RFC 3720 §B.4), byte by byte.
//
// Owns       its state.
// Thread     a value.
// Allocates  never.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::proxy {

class Crc32c {
 public:
  // Adds bytes that follow those added before.
  constexpr void add(Bytes bytes) noexcept {
    for (const char c : bytes) {
      state_ = table[(state_ ^ static_cast<unsigned char>(c)) & 0xff] ^ state_ >> 8;
    }
  }
  // The checksum of all bytes that were added.
  constexpr std::uint32_t value() const noexcept { return ~state_; }

 private:
  static constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t index = 0; index < made.size(); ++index) {
      std::uint32_t word = index;
      for (int bit = 0; bit < 8; ++bit) word = word >> 1 ^ ((word & 1) != 0 ? 0x82f6'3b78 : 0);
      made[index] = word;
    }
    return made;
  }();

  std::uint32_t state_ = ~std::uint32_t{0};
};

}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
