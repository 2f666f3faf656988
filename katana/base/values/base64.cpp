#include "katana/base/values/base64.hpp"

#include <array>
#include <cstdint>

#include "katana/base/system/check.hpp"

namespace katana {
namespace {

constexpr Bytes standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr Bytes url_safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using DigitValues = std::array<std::uint8_t, 256>;
constexpr std::uint8_t no_digit = 64;

constexpr DigitValues values_of(Bytes alphabet) {
  DigitValues values{};
  values.fill(no_digit);
  for (std::size_t index = 0; index < alphabet.size(); ++index) {
    values[static_cast<std::uint8_t>(alphabet[index])] = static_cast<std::uint8_t>(index);
  }
  return values;
}
constexpr DigitValues standard_values = values_of(standard);
constexpr DigitValues url_safe_values = values_of(url_safe);

// Encodes without padding.
std::string encode(Bytes octets, Bytes alphabet) {
  std::string text;
  text.reserve((octets.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    const Bytes part = octets.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      const char octet = index < part.size() ? part[index] : '\0';
      group = group << 8 | static_cast<unsigned char>(octet);
    }
    for (std::size_t index = 0; index <= part.size(); ++index) {
      text.push_back(alphabet[group >> (18 - 6 * index) & 63]);
    }
  }
  return text;
}

// Decodes a text without padding. `to` has room for base64url_decoded_bytes_max() bytes.
std::optional<std::size_t> decode(Bytes text, const DigitValues& values, char* to) noexcept {
  const std::size_t rest = text.size() % 4;
  if (rest == 1) return std::nullopt;
  const auto value_of = [&values](char c) -> std::uint32_t {
    return values[static_cast<std::uint8_t>(c)];
  };
  const char* const begin = to;
  for (; text.size() >= 4; text.remove_prefix(4)) {
    const std::uint32_t a = value_of(text[0]), b = value_of(text[1]), c = value_of(text[2]),
                        d = value_of(text[3]);
    if (((a | b | c | d) & no_digit) != 0) return std::nullopt;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *to++ = static_cast<char>(group >> 16);
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  std::uint32_t group = 0;
  for (const char c : text) {
    if (value_of(c) == no_digit) return std::nullopt;
    group = group << 6 | value_of(c);
  }
  if (rest == 0) return static_cast<std::size_t>(to - begin);
  // The last four bits of two digits are spare, and the last two bits of three.
  const unsigned spare = rest == 2 ? 4 : 2;
  if ((group & ((1u << spare) - 1)) != 0) return std::nullopt;
  group >>= spare;
  if (rest == 3) *to++ = static_cast<char>(group >> 8);
  *to++ = static_cast<char>(group);
  return static_cast<std::size_t>(to - begin);
}

std::optional<std::string> decode_text(Bytes text, const DigitValues& values) {
  std::string octets(base64url_decoded_bytes_max(text.size()), '\0');
  const auto size = decode(text, values, octets.data());
  if (!size) return std::nullopt;
  octets.resize(*size);
  return octets;
}

}  // namespace

std::string encode_base64(Bytes octets) {
  std::string text = encode(octets, standard);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> decode_base64(Bytes text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with('=')) text.remove_suffix(1);
  if (text.ends_with('=') && text.size() % 4 == 3) text.remove_suffix(1);
  return decode_text(text, standard_values);
}

std::string encode_base64url(Bytes octets) { return encode(octets, url_safe); }

std::optional<std::string> decode_base64url(Bytes text) {
  return decode_text(text, url_safe_values);
}

std::optional<Bytes> decode_base64url(Bytes text, std::span<char> to) noexcept {
  KATANA_REQUIRE(to.size() >= base64url_decoded_bytes_max(text.size()));
  const auto size = decode(text, url_safe_values, to.data());
  if (!size) return std::nullopt;
  return Bytes(to.data(), *size);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
