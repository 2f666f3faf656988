// JSON text: writes bytes and numbers in the form of JSON into memory that the caller provides.
//
// Thread     any.
// Allocates  never.
// Fails      never: numbers that JSON does not have (NaN, infinities) become null.
// Invariant  each function writes at most as many bytes as its bound, and returns the end.
// Source     RFC 8259 §6.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/json_string.hpp"

namespace katana::container {

// ---- characters: base/text/json_string.hpp ----

// The largest number of bytes, at most `bytes_max`, that ends between two characters.
constexpr std::size_t whole_characters(Bytes text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text.size();
  std::size_t size = bytes_max;
  while (size + 3 > bytes_max && (static_cast<std::uint8_t>(text[size]) & 0xc0) == 0x80) --size;
  return size;
}

// ---- bytes: base64 (RFC 4648 §4), padded, in quotes ----

// The room that put_base64() needs for this number of bytes, including the quotes.
constexpr std::size_t json_octets_bound(std::size_t bytes) noexcept {
  return (bytes + 2) / 3 * 4 + 2;
}
// Writes `count` bytes as base64. REQUIRES json_octets_bound(count) bytes at `at`.
char* put_base64(char* at, const std::byte* octets, std::size_t count) noexcept;

// ---- numbers ----

inline constexpr std::size_t json_integer_bound = 20;  // digits and sign of a 64-bit integer
inline constexpr std::size_t json_real_bound = 32;     // characters of the longest double

namespace detail {

inline constexpr auto digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t number = 0; number < 100; ++number) {
    pairs[2 * number] = static_cast<char>('0' + number / 10);
    pairs[2 * number + 1] = static_cast<char>('0' + number % 10);
  }
  return pairs;
}();

constexpr unsigned count_digits(std::uint64_t number) noexcept {
  constexpr auto powers = [] {
    std::array<std::uint64_t, 20> all{};
    std::uint64_t power = 1;
    for (std::size_t index = 1; index < 20; ++index) all[index] = power *= 10;
    return all;
  }();
  // 1233/4096 is the logarithm of 2 to base 10, near enough for 64 bits.
  const unsigned guess = static_cast<unsigned>(std::bit_width(number | 1)) * 1233 >> 12;
  return guess + (number >= powers[guess] ? 1 : 0);  // 0 has a digit, too: powers[0] is 0
}

}  // namespace detail

// Writes a natural number in decimal.
[[gnu::always_inline]] inline char* put_natural(char* at, std::uint64_t number) noexcept {
  const unsigned count = detail::count_digits(number);
  char* digit = at + count;
  while (number >= 100) {
    digit -= 2;
    std::memcpy(digit, &detail::digit_pairs[2 * (number % 100)], 2);
    number /= 100;
  }
  if (number >= 10) {
    std::memcpy(digit - 2, &detail::digit_pairs[2 * number], 2);
  } else {
    digit[-1] = static_cast<char>('0' + number);
  }
  return at + count;
}

// Writes an integer in decimal.
[[gnu::always_inline]] inline char* put_integer(char* at, std::int64_t number) noexcept {
  if (number >= 0) return put_natural(at, static_cast<std::uint64_t>(number));
  *at++ = '-';
  return put_natural(at, 0 - static_cast<std::uint64_t>(number));
}

// Writes the shortest digits that read back as the same number. They always have a point or an
// exponent, and therefore read back as a real number.
char* put_real(char* at, double number) noexcept;
char* put_real(char* at, float number) noexcept;

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
