#include "katana/data/container/json_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace katana::container {

namespace {

__extension__ using Wide = unsigned __int128;

// digits · 10^exponent
struct DecimalDigits {
  Wide digits = 0;
  int exponent = 0;
};

// The fewest digits that read back as the same double; all digits of an integer.
DecimalDigits digits_of(Number number) noexcept {
  std::array<char, 64> text{};
  const auto real = static_cast<double>(number);
  const char* end =
      static_cast<Number>(real) == number
          ? std::to_chars(text.begin(), text.end(), real, std::chars_format::scientific).ptr
          : std::to_chars(text.begin(), text.end(), static_cast<std::uint64_t>(number)).ptr;
  DecimalDigits made;
  bool behind_point = false;
  const char* at = text.begin();
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      behind_point = true;
      continue;
    }
    made.digits = made.digits * 10 + static_cast<unsigned>(*at - '0');
    made.exponent -= behind_point ? 1 : 0;
  }
  if (at != end) made.exponent += std::atoi(at + 1);
  return made;
}

// REQUIRES that `base` and `of` are below 2^64, as the digits of doubles and 64-bit integers are.
Wide remainder_of_power(Wide base, unsigned exponent, Wide of) noexcept {
  Wide made = 1 % of;
  for (base %= of; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) made = made * base % of;
    base = base * base % of;
  }
  return made;
}

}  // namespace

bool is_integer(Number number) noexcept { return std::trunc(number) == number; }

bool is_multiple(Number number, Number divisor) noexcept {
  const DecimalDigits value = digits_of(std::fabs(number));
  const DecimalDigits of = digits_of(divisor);
  if (value.digits == 0) return true;
  if (value.exponent >= of.exponent) {
    const auto shift = static_cast<unsigned>(value.exponent - of.exponent);
    return value.digits % of.digits * remainder_of_power(10, shift, of.digits) % of.digits == 0;
  }
  // Scales the divisor to the exponent of the value. Shifted by more than 20 digits it is above any
  // value.
  const int shift = of.exponent - value.exponent;
  if (shift > 20) return false;
  Wide scaled = of.digits;
  for (int count = 0; count < shift; ++count) {
    if (scaled > value.digits) return false;
    scaled *= 10;
  }
  return value.digits % scaled == 0;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
