// Masking: the exclusive or of RFC 6455 §5.3, sixteen bytes at a time (where there is no SSE2,
// eight), while copying.
//
// A mask is the four bytes of the frame as a little-endian number. A caller that goes on with a
// payload rotates the mask by the bytes that are done: every piece then begins at its first byte.
//
// Thread     any.
// Allocates  never.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"

namespace katana::ws {

// Copies, because received bytes belong to the engine and may not be changed. The copy costs no
// more than the same loop in place.
inline void copy_masked(char* to, const char* from, std::size_t count,
                        std::uint32_t mask) noexcept {
  std::size_t at = 0;
#if defined(__SSE2__)
  const __m128i mask16 = _mm_set1_epi32(std::bit_cast<std::int32_t>(mask));
  for (; count - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), _mm_xor_si128(bytes, mask16));
  }
#endif
  const std::uint64_t mask8 = std::uint64_t{mask} << 32 | mask;
  for (; count - at >= 8; at += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, from + at, 8);
    bytes ^= mask8;
    std::memcpy(to + at, &bytes, 8);
  }
  for (; at != count; ++at) {
    to[at] = static_cast<char>(static_cast<std::uint8_t>(from[at]) ^
                               static_cast<std::uint8_t>(mask >> (at % 4 * 8)));
  }
}

// The mask for the payload behind its first `count` bytes.
constexpr std::uint32_t rotate_mask(std::uint32_t mask, std::size_t count) noexcept {
  return std::rotr(mask, static_cast<int>(count % 4 * 8));
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
