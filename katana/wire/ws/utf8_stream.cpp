#include "katana/wire/ws/utf8_stream.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>

namespace katana::ws {
namespace {

// The first byte from `at` on that is not ASCII, or the end.
std::size_t skip_ascii(Bytes text, std::size_t at) noexcept {
#if defined(__SSE2__)
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto high = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    if (high != 0) return at + static_cast<std::size_t>(std::countr_zero(high));
  }
#else
  for (; text.size() - at >= 8; at += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, 8);
    if ((bytes & 0x8080'8080'8080'8080) != 0) break;
  }
#endif
  while (at != text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

// The second byte has a narrower range where the first would allow overlong forms, surrogates, or
// too large a number.
bool Utf8Stream::begin_character(std::uint8_t lead) noexcept {
  if (lead < 0xc2 || lead > 0xf4) return false;
  left_ = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  lowest_ = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  highest_ = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return true;
}

bool Utf8Stream::check(Bytes piece) noexcept {
  std::size_t at = 0;
  for (;;) {
    while (left_ != 0) {
      if (at == piece.size()) return true;
      const auto octet = static_cast<std::uint8_t>(piece[at++]);
      if (octet < lowest_ || octet > highest_) return false;
      --left_;
      lowest_ = 0x80;
      highest_ = 0xbf;
    }
    at = skip_ascii(piece, at);
    if (at == piece.size()) return true;
    if (!begin_character(static_cast<std::uint8_t>(piece[at++]))) return false;
  }
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
