// KeyedHash: SipHash-1-3 (Aumasson, Bernstein) of a text, for tables. Without the key an attacker
// cannot choose texts that collide. It is no signature.
//
// Owns       its key.
// Thread     a value.
// Allocates  never.
// Fails      never.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"

namespace katana {

class KeyedHash {
 public:
  constexpr KeyedHash(std::uint64_t first, std::uint64_t second) noexcept
      : first_(first), second_(second) {}

  // The hash of a text. It depends only on the text and the key.
  std::uint64_t of(Bytes text) const noexcept {
    State state(first_, second_);
    const std::uint64_t size = text.size();
    for (; text.size() >= 8; text.remove_prefix(8)) state.add(word_of(text.substr(0, 8)));
    state.add(word_of(text) | size << 56);
    return state.finish();
  }
  // The hash of the 16 bytes of two words.
  std::uint64_t of(std::uint64_t first, std::uint64_t second) const noexcept {
    State state(first_, second_);
    state.add(first);
    state.add(second);
    state.add(std::uint64_t{16} << 56);
    return state.finish();
  }

 private:
  struct State {
    State(std::uint64_t first, std::uint64_t second) noexcept
        : v0(first ^ 0x736f'6d65'7073'6575),
          v1(second ^ 0x646f'7261'6e64'6f6d),
          v2(first ^ 0x6c79'6765'6e65'7261),
          v3(second ^ 0x7465'6462'7974'6573) {}
    void add(std::uint64_t word) noexcept {
      v3 ^= word;
      round();
      v0 ^= word;
    }
    std::uint64_t finish() noexcept {
      v2 ^= 0xff;
      for (int count = 0; count < 3; ++count) round();
      return v0 ^ v1 ^ v2 ^ v3;
    }
    void round() noexcept {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
    std::uint64_t v0, v1, v2, v3;
  };
  static std::uint64_t word_of(Bytes text) noexcept {
    std::uint64_t word = 0;
    if (!text.empty()) std::memcpy(&word, text.data(), text.size());
    return word;
  }

  std::uint64_t first_;
  std::uint64_t second_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
