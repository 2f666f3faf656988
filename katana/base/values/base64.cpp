#include "katana/base/values/base64.hpp"

#include <algorithm>
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

// Encodes without padding. `to` has room for the text; returns its size.
std::size_t encode(Bytes octets, Bytes alphabet, char* to) noexcept {
  const char* const begin = to;
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    const Bytes part = octets.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      const char octet = index < part.size() ? part[index] : '\0';
      group = group << 8 | static_cast<unsigned char>(octet);
    }
    for (std::size_t index = 0; index <= part.size(); ++index) {
      *to++ = alphabet[group >> (18 - 6 * index) & 63];
    }
  }
  return static_cast<std::size_t>(to - begin);
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

// Nothing if it is not padded as an encoder does it.
std::optional<Bytes> without_padding(Bytes text) noexcept {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with('=')) text.remove_suffix(1);
  if (text.ends_with('=') && text.size() % 4 == 3) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string encode_base64(Bytes octets) {
  std::string text(base64_text_bytes(octets.size()), '=');
  encode(octets, standard, text.data());
  return text;
}

Bytes encode_base64(Bytes octets, std::span<char> to) noexcept {
  const std::size_t size = base64_text_bytes(octets.size());
  KATANA_REQUIRE(to.size() >= size);
  std::fill_n(to.data() + encode(octets, standard, to.data()), (3 - octets.size() % 3) % 3, '=');
  return {to.data(), size};
}

std::optional<std::string> decode_base64(Bytes text) {
  const std::optional<Bytes> bare = without_padding(text);
  return bare ? decode_text(*bare, standard_values) : std::nullopt;
}

std::optional<Bytes> decode_base64(Bytes text, std::span<char> to) noexcept {
  const std::optional<Bytes> bare = without_padding(text);
  if (!bare) return std::nullopt;
  KATANA_REQUIRE(to.size() >= base64url_decoded_bytes_max(bare->size()));
  const auto size = decode(*bare, standard_values, to.data());
  if (!size) return std::nullopt;
  return Bytes(to.data(), *size);
}

std::string encode_base64url(Bytes octets) {
  std::string text(base64_text_bytes(octets.size()), '=');
  text.resize(encode(octets, url_safe, text.data()));
  return text;
}

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
