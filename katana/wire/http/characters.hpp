// Character classes of HTTP and of URIs, one table of bits for all of them.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// Classes of characters; a set of them is their bitwise or.
enum CharacterClass : std::uint8_t {
  token_character = 1 << 0,  // tchar, RFC 9110 §5.6.2
  value_character =
      1 << 1,  // field-vchar, SP and HTAB, RFC 9110 §5.5: everything but controls and DEL
  target_character = 1 << 2,  // allowed in a request-target, RFC 9112 §3.2 and RFC 3986: pchar
                              // "/" "?" "%" "[" "]"
  host_character = 1 << 3,    // reg-name and "%", RFC 3986 §3.2.2, without ","
  digit_character = 1 << 4,   // 0-9
  hex_character = 1 << 5,     // 0-9, a-f, A-F
  plain_path_character =
      1 << 6,  // in a path that is only these, nothing is to be decoded or resolved
  plain_host_character = 1 << 7,  // reg-name without escapes and ","
};

namespace detail {

constexpr bool contains(Bytes set, char c) { return set.find(c) != Bytes::npos; }

constexpr std::array<std::uint8_t, 256> make_character_table() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool digit = c >= '0' && c <= '9';
    const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool unreserved = alpha || digit || contains("-._~", c);
    const bool sub_delimiter = contains("!$&'()*+,;=", c);
    unsigned bits = 0;
    if (alpha || digit || contains("!#$%&'*+-.^_`|~", c)) bits |= token_character;
    if ((value >= 0x20 && value != 0x7f) || c == '\t') bits |= value_character;
    if (unreserved || sub_delimiter || contains(":@/?%[]", c)) bits |= target_character;
    // RFC 3986 allows all sub-delims in a name. But in a field a comma joins the values of two
    // lines (RFC 9110 §5.3). "a,b" is therefore two Hosts, which RFC 9112 §3.2 refuses. Programs
    // that read it as a list see another host than those that do not. No DNS name has a comma. The
    // other sub-delims mean nothing in a Host.
    const bool in_host = unreserved || (sub_delimiter && c != ',');
    if (in_host || c == '%') bits |= host_character;
    if (digit) bits |= digit_character;
    if (in_host) bits |= plain_host_character;
    if ((unreserved && c != '.') || sub_delimiter || contains(":@/", c)) {
      bits |= plain_path_character;
    }
    if (digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= hex_character;
    table[value] = static_cast<std::uint8_t>(bits);
  }
  return table;
}

inline constexpr auto character_table = make_character_table();

}  // namespace detail

// Whether the character belongs to one of the wanted classes.
constexpr bool is(char c, CharacterClass wanted) noexcept {
  return (detail::character_table[static_cast<unsigned char>(c)] & wanted) != 0;
}

// Whether every character belongs to one of the wanted classes. True for empty text.
constexpr bool all_are(Bytes text, CharacterClass wanted) noexcept {
  for (const char c : text) {
    if (!is(c, wanted)) return false;
  }
  return true;
}

// Changes ASCII letters only.
constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// ASCII case folding only, as field names and tokens want (RFC 9110 §5.1).
constexpr bool equals_ignoring_case(Bytes left, Bytes right) noexcept {
  if (left.size() != right.size()) return false;
  for (std::size_t index = 0; index < left.size(); ++index) {
    if (to_lower(left[index]) != to_lower(right[index])) return false;
  }
  return true;
}

// OWS, RFC 9110 §5.6.3.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
constexpr Bytes trimmed(Bytes text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  c = to_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
