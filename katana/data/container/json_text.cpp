#include "katana/data/container/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace katana::container {
namespace {

template <class Real>
char* put_shortest(char* at, Real number) noexcept {
  if (!std::isfinite(number)) {
    std::memcpy(at, "null", 4);
    return at + 4;
  }
  char* const end = std::to_chars(at, at + json_real_bound, number).ptr;
  const bool is_real = std::any_of(at, end, [](char c) { return c == '.' || c == 'e'; });
  if (is_real) return end;
  std::memcpy(end, ".0", 2);
  return end + 2;
}

}  // namespace

char* put_base64(char* at, const std::byte* octets, std::size_t count) noexcept {
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t index = 0; index < count; index += 3) {
    const std::size_t there = std::min<std::size_t>(3, count - index);
    std::uint32_t group = 0;
    for (std::size_t octet = 0; octet < 3; ++octet) {
      group =
          group << 8 | (octet < there ? std::to_integer<std::uint32_t>(octets[index + octet]) : 0);
    }
    at[0] = alphabet[group >> 18];
    at[1] = alphabet[group >> 12 & 63];
    at[2] = there > 1 ? alphabet[group >> 6 & 63] : '=';
    at[3] = there > 2 ? alphabet[group & 63] : '=';
    at += 4;
  }
  return at;
}

char* put_real(char* at, double number) noexcept { return put_shortest(at, number); }
char* put_real(char* at, float number) noexcept { return put_shortest(at, number); }

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
