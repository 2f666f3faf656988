#include "apps/chat/wire/line_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "apps/chat/wire/limits.hpp"
#include "katana/base/text/utf8.hpp"

namespace katana::chat {
namespace {

constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t tops = 0x8080808080808080;

// True if every byte is in 0x20 … 0x7e. Exact for eight bytes at once: only a byte below 0x20 can
// begin a borrow of the subtraction, and then the answer is false anyway.
constexpr bool is_plain(std::uint64_t octets) noexcept {
  const std::uint64_t below_space = octets - ones * 0x20;
  const std::uint64_t from_delete = octets + ones;  // 0x7f becomes 0x80; 0x80 and above: tops
  return ((octets | below_space | from_delete) & tops) == 0;
}

constexpr bool is_control(std::uint8_t octet) noexcept { return octet < 0x20 || octet == 0x7f; }

// U+0080 to U+009F are 0xc2 0x80 to 0xc2 0x9f.
constexpr bool is_high_control(Bytes character) noexcept {
  return character.size() == 2 && character[0] == '\xc2' &&
         static_cast<std::uint8_t>(character[1]) < 0xa0;
}

}  // namespace

Refusal check_text(Bytes text) noexcept {
  while (!text.empty()) {
    std::uint64_t octets;
    if (text.size() >= sizeof octets) {
      std::memcpy(&octets, text.data(), sizeof octets);
      if (is_plain(octets)) {
        text.remove_prefix(sizeof octets);
        continue;
      }
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) return Refusal::not_utf8;
    if (is_control(static_cast<std::uint8_t>(text[0])) || is_high_control(text.substr(0, length))) {
      return Refusal::control_character;
    }
    text.remove_prefix(length);
  }
  return Refusal::none;
}

bool is_name(Bytes text) noexcept {
  return !text.empty() && text.size() <= name_bytes_max &&
         std::ranges::none_of(text,
                              [](char each) { return Bytes(" []*!/,").find(each) != Bytes::npos; });
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
