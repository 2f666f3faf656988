// UTF-8: what is well-formed and what is not.
//
// Thread     any.
// Allocates  never.
// Fails      never: ill-formed bytes are a result.
// Source     RFC 3629 §4; the Unicode Standard, table 3-7.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana {

// What a decoder puts in the place of bytes that are no character: U+FFFD.
inline constexpr Bytes replacement_character = "\xef\xbf\xbd";

// How many bytes, 1 to 4, the character takes that `text` begins with; 0 when it begins with none:
// a stray continuation, an overlong form, a surrogate, above U+10FFFF, cut off, or empty.
constexpr std::size_t utf8_length(Bytes text) noexcept {
  if (text.empty()) return 0;
  const auto octet = [text](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  const std::uint8_t lead = octet(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  // The second byte has a narrower range where the first would allow overlong forms, surrogates,
  // or too large a number.
  const std::uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (octet(1) < lowest || octet(1) > highest) return 0;
  for (std::size_t index = 2; index < length; ++index) {
    if ((octet(index) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// Takes the character off that `text` begins with, and returns it. A byte that begins none is
// taken alone, and U+FFFD returned. REQUIRES text not empty.
constexpr Bytes take_character(Bytes& text) noexcept {
  const std::size_t length = utf8_length(text);
  const Bytes taken = length == 0 ? replacement_character : text.substr(0, length);
  text.remove_prefix(length == 0 ? 1 : length);
  return taken;
}

// From the first byte to the last.
bool is_utf8(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
