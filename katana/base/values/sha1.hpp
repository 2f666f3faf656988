// SHA-1, for protocols that use it as a name and not for protection: Sec-WebSocket-Accept
// (RFC 6455 §4.2.2) and the scripts of Redis (EVALSHA). It is broken for data that an attacker may
// choose.
//
// The digests of a library allocate heap memory for each call, which protocol machines must not do.
// Therefore this implementation exists. Its test evaluates it at compile time.
//
// Thread     any.
// Allocates  never.
// Source     FIPS 180-4 §6.1.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana {

namespace detail {

using Sha1State = std::array<std::uint32_t, 5>;
using Sha1Block = std::array<std::uint8_t, 64>;

constexpr void mix_block(Sha1State& state, const Sha1Block& block) noexcept {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t t = 0; t < 16; ++t) {
    words[t] = std::uint32_t{block[4 * t]} << 24 | std::uint32_t{block[4 * t + 1]} << 16 |
               std::uint32_t{block[4 * t + 2]} << 8 | block[4 * t + 3];
  }
  for (std::size_t t = 16; t < 80; ++t) {
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t t = 0; t < 80; ++t) {
    const std::uint32_t f = t < 20   ? (b & c) | (~b & d)
                            : t < 40 ? b ^ c ^ d
                            : t < 60 ? (b & c) | (b & d) | (c & d)
                                     : b ^ c ^ d;
    const std::uint32_t k = t < 20   ? 0x5a827999
                            : t < 40 ? 0x6ed9eba1
                            : t < 60 ? 0x8f1bbcdc
                                     : 0xca62c1d6;
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace detail

// The digest of `text`. It also works at compile time.
constexpr std::array<std::uint8_t, 20> sha1(Bytes text) noexcept {
  detail::Sha1State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  detail::Sha1Block block{};
  std::size_t used = 0;
  const auto put = [&](std::uint8_t octet) {
    block[used++] = octet;
    if (used < block.size()) return;
    detail::mix_block(state, block);
    used = 0;
  };
  for (const char each : text) put(static_cast<std::uint8_t>(each));
  put(0x80);
  while (used != 56) put(0);
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) put(static_cast<std::uint8_t>(bits >> shift));
  std::array<std::uint8_t, 20> digest{};
  for (std::size_t at = 0; at < digest.size(); ++at) {
    digest[at] = static_cast<std::uint8_t>(state[at / 4] >> (24 - at % 4 * 8));
  }
  return digest;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
