// UTF-8: checks whether bytes are well-formed.
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

// The replacement that a decoder writes for ill-formed bytes: U+FFFD.
inline constexpr Bytes replacement_character = "\xef\xbf\xbd";

// The size in bytes, 1 to 4, of the first character of `text`; 0 when `text` begins with none. That
// is a stray continuation, an overlong form, a surrogate, a number above U+10FFFF, a character that
// is cut off, or empty text.
constexpr std::size_t utf8_length(Bytes text) noexcept {
  if (text.empty()) return 0;
  const auto octet = [text](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  const std::uint8_t lead = octet(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  // The second byte has a narrower range after some first bytes. This excludes overlong forms,
  // surrogates, and numbers above U+10FFFF.
  const std::uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (octet(1) < lowest || octet(1) > highest) return 0;
  for (std::size_t index = 2; index < length; ++index) {
    if ((octet(index) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// Removes the first character of `text` and returns it. If the first byte begins no character, it
// removes that byte and returns U+FFFD. REQUIRES that `text` is not empty.
constexpr Bytes take_character(Bytes& text) noexcept {
  const std::size_t length = utf8_length(text);
  const Bytes taken = length == 0 ? replacement_character : text.substr(0, length);
  text.remove_prefix(length == 0 ? 1 : length);
  return taken;
}

// True if all of `text` is well-formed.
bool is_utf8(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
