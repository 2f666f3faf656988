#include "katana/data/container/json_scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace katana::container::detail {
namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Four hexadecimal digits, or -1.
int hexadecimal(const char* at) noexcept {
  int number = 0;
  for (int index = 0; index < 4; ++index) {
    const char c = at[index];
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      number = number * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      number = number * 16 + (lower - 'a' + 10);
    } else {
      return -1;
    }
  }
  return number;
}

void append_character(std::string& to, std::uint32_t character) {
  const auto octet = [&to](std::uint32_t bits) { to.push_back(static_cast<char>(bits)); };
  if (character < 0x80) {
    octet(character);
  } else if (character < 0x800) {
    octet(0xc0 | character >> 6);
    octet(0x80 | (character & 63));
  } else if (character < 0x10000) {
    octet(0xe0 | character >> 12);
    octet(0x80 | (character >> 6 & 63));
    octet(0x80 | (character & 63));
  } else {
    octet(0xf0 | character >> 18);
    octet(0x80 | (character >> 12 & 63));
    octet(0x80 | (character >> 6 & 63));
    octet(0x80 | (character & 63));
  }
}

// Takes the digits behind `\u`: one unit of UTF-16, or two units that are one character.
bool take_unicode(const char*& at, std::string& to) {
  const int unit = hexadecimal(at);
  if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000)) return false;
  at += 4;
  auto character = static_cast<std::uint32_t>(unit);
  if (unit >= 0xd800 && unit < 0xdc00) {
    if (at[0] != '\\' || at[1] != 'u') return false;
    const int low = hexadecimal(at + 2);
    if (low < 0xdc00 || low >= 0xe000) return false;
    at += 6;
    character = 0x10000 + (static_cast<std::uint32_t>(unit - 0xd800) << 10 |
                           static_cast<std::uint32_t>(low - 0xdc00));
  }
  append_character(to, character);
  return true;
}

// Takes the escape behind a backslash.
bool take_escape(const char*& at, std::string& to) {
  switch (const char c = *at++; c) {
    case '"':
    case '\\':
    case '/': to.push_back(c); return true;
    case 'b': to.push_back('\b'); return true;
    case 'f': to.push_back('\f'); return true;
    case 'n': to.push_back('\n'); return true;
    case 'r': to.push_back('\r'); return true;
    case 't': to.push_back('\t'); return true;
    case 'u': return take_unicode(at, to);
    default: return false;
  }
}

bool take_digits(Bytes& text) noexcept {
  const auto count =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  text.remove_prefix(count);
  return count != 0;
}

bool take(Bytes& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

constexpr auto base64_digits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(64);
  constexpr Bytes alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t index = 0; index < alphabet.size(); ++index) {
    digits[static_cast<std::uint8_t>(alphabet[index])] = static_cast<std::uint8_t>(index);
  }
  return digits;
}();

}  // namespace

bool unescape_string(const char* at, std::string& to) {
  to.clear();
  while (true) {
    const char* const end = find_string_end(at);
    to.append(at, end);
    at = end + 1;
    if (*end == '"') return true;
    if (!take_escape(at, to)) return false;
  }
}

bool is_json_number(Bytes token) noexcept {
  take(token, '-');
  if (!take(token, '0') && !take_digits(token)) return false;
  if (take(token, '.') && !take_digits(token)) return false;
  if (take(token, 'e') || take(token, 'E')) {
    if (!take(token, '+')) take(token, '-');
    if (!take_digits(token)) return false;
  }
  return token.empty();
}

bool is_json_integer(Bytes number) noexcept {
  return number != "-0" && number.find_first_of(".eE") == Bytes::npos;
}

std::optional<WholeNumber> whole_number(Bytes number) {
  WholeNumber made{.is_negative = number.starts_with('-')};
  if (made.is_negative) number.remove_prefix(1);
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  // With a larger exponent than any text has digits, the number is zero, a fraction, or beyond 64
  // bits.
  constexpr std::int64_t far = INT64_MAX / 4;
  std::int64_t exponent = 0;
  if (exponent_at != number.size()) {
    Bytes text = number.substr(exponent_at + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
    const bool is_far = read.ec != std::errc() || exponent > far || exponent < -far;
    if (is_far) exponent = text.starts_with('-') ? -far : far;
  }
  std::string digits(number.substr(0, exponent_at));
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    exponent -= static_cast<std::int64_t>(digits.size() - point);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) {
    made.magnitude = 0;
    return made;
  }
  const std::size_t zeros = digits.size() - 1 - digits.find_last_not_of('0');
  digits.resize(digits.size() - zeros);
  exponent += static_cast<std::int64_t>(zeros);
  if (exponent < 0) return std::nullopt;
  constexpr std::size_t digits_max = 20;
  if (exponent > 20 || digits.size() + static_cast<std::size_t>(exponent) > digits_max) return made;
  digits.append(static_cast<std::size_t>(exponent), '0');
  std::uint64_t magnitude = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (read.ec == std::errc()) made.magnitude = magnitude;
  return made;
}

bool WholeNumber::get(std::int64_t& to) const noexcept {
  const std::uint64_t limit = std::uint64_t{INT64_MAX} + (is_negative ? 1 : 0);
  if (!magnitude || *magnitude > limit) return false;
  to = static_cast<std::int64_t>(is_negative ? 0 - *magnitude : *magnitude);
  return true;
}

bool WholeNumber::get(std::uint64_t& to) const noexcept {
  if (!magnitude || (is_negative && *magnitude != 0)) return false;
  to = *magnitude;
  return true;
}

bool decode_base64(Bytes text, Octets& to) {
  to.clear();
  if (text.size() % 4 != 0) return false;
  to.reserve(text.size() / 4 * 3);
  for (std::size_t index = 0; index < text.size(); index += 4) {
    const bool is_last = index + 4 == text.size();
    const std::size_t padding = !is_last || text[index + 3] != '=' ? 0
                                : text[index + 2] != '='           ? 1
                                                                   : 2;
    std::uint32_t group = 0;
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const bool is_padding = digit + padding >= 4;
      const std::uint8_t bits =
          is_padding ? 0 : base64_digits[static_cast<std::uint8_t>(text[index + digit])];
      if (bits > 63) return false;
      group = group << 6 | bits;
    }
    // Unused bits must be zero: bytes then have only one text (RFC 4648 §3.5).
    if ((group & ((1u << (8 * padding)) - 1)) != 0) return false;
    for (std::size_t octet = 0; octet < 3 - padding; ++octet) {
      to.push_back(static_cast<std::byte>(group >> (16 - 8 * octet)));
    }
  }
  return true;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
