#include "katana/base/values/decimal.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "katana/base/system/check.hpp"

namespace katana {
namespace {

using Coefficient = Decimal::Coefficient;
__extension__ using Magnitude = unsigned __int128;

constexpr std::array<Magnitude, Decimal::digits_max + 1> powers_of_ten = [] {
  std::array<Magnitude, Decimal::digits_max + 1> powers{};
  powers[0] = 1;
  for (std::size_t index = 1; index < powers.size(); ++index)
    powers[index] = powers[index - 1] * 10;
  return powers;
}();
constexpr auto coefficient_limit = static_cast<Coefficient>(powers_of_ten[Decimal::digits_max]);

[[noreturn]] void overflow(const char* what) {
  throw std::overflow_error(std::string("a Decimal of more than 38 digits, by ") + what +
                            ": round its operands first");
}

constexpr Magnitude magnitude_of(Coefficient number) noexcept {
  return number < 0 ? -static_cast<Magnitude>(number) : static_cast<Magnitude>(number);
}

// number × 10^places.
Coefficient scaled_up(Coefficient number, unsigned places, const char* what) {
  Coefficient scaled = 0;
  if (places > Decimal::digits_max) {
    if (number != 0) overflow(what);
    return 0;
  }
  if (__builtin_mul_overflow(number, static_cast<Coefficient>(powers_of_ten[places]), &scaled) ||
      scaled >= coefficient_limit || scaled <= -coefficient_limit) {
    overflow(what);
  }
  return scaled;
}

// dividend / divisor, rounded. REQUIRES a divisor above 0.
Magnitude divide(Magnitude dividend, Magnitude divisor, Rounding rounding) noexcept {
  const Magnitude quotient = dividend / divisor;
  const Magnitude rest = dividend % divisor;
  const Magnitude other_half = divisor - rest;
  const bool above = rest > other_half;
  const bool between = rest == other_half;
  const bool up = rounding == Rounding::half_up     ? above || between
                  : rounding == Rounding::half_even ? above || (between && (quotient & 1) != 0)
                                                    : false;
  return quotient + (up ? 1 : 0);
}

constexpr Coefficient with_sign(Magnitude magnitude, bool negative) noexcept {
  return negative ? -static_cast<Coefficient>(magnitude) : static_cast<Coefficient>(magnitude);
}

}  // namespace

std::optional<Decimal> Decimal::parse(Bytes text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  Coefficient coefficient = 0;
  unsigned scale = 0;
  std::size_t digits = 0;
  bool behind_point = false;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const char c = text[index];
    if (c == '.' && !behind_point && index != 0 && index + 1 != text.size()) {
      behind_point = true;
      continue;
    }
    if (c < '0' || c > '9' || (behind_point && scale == digits_max)) return std::nullopt;
    if (coefficient >= coefficient_limit / 10) return std::nullopt;
    coefficient = coefficient * 10 + (c - '0');
    if (behind_point) ++scale;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  return Decimal(negative ? -coefficient : coefficient, scale, Exact());
}

ShortText<Decimal::text_bytes> Decimal::to_text() const noexcept {
  std::array<char, digits_max + 1> digits;
  auto begin = digits.end();
  Magnitude rest = magnitude_of(coefficient_);
  do {
    *--begin = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0 || digits.end() - begin <= static_cast<std::ptrdiff_t>(scale_));
  ShortText<text_bytes> text;
  if (coefficient_ < 0) text.push_back('-');
  const auto point = digits.end() - scale_;
  for (; begin != digits.end(); ++begin) {
    if (begin == point) text.push_back('.');
    text.push_back(*begin);
  }
  return text;
}

double Decimal::to_double() const noexcept {
  return static_cast<double>(coefficient_) / static_cast<double>(powers_of_ten[scale_]);
}

Decimal Decimal::operator+(const Decimal& other) const {
  const unsigned scale = std::max(scale_, other.scale_);
  const Coefficient sum = scaled_up(coefficient_, scale - scale_, "an addition") +
                          scaled_up(other.coefficient_, scale - other.scale_, "an addition");
  if (sum >= coefficient_limit || sum <= -coefficient_limit) overflow("an addition");
  return {sum, scale, Exact()};
}

Decimal Decimal::operator*(const Decimal& other) const {
  Coefficient product = 0;
  const unsigned scale = scale_ + other.scale_;
  if (__builtin_mul_overflow(coefficient_, other.coefficient_, &product) ||
      product >= coefficient_limit || product <= -coefficient_limit || scale > digits_max) {
    overflow("a multiplication");
  }
  return {product, scale, Exact()};
}

Decimal Decimal::rounded(unsigned scale, Rounding rounding) const {
  if (scale > digits_max) overflow("rounded()");
  if (scale >= scale_)
    return {scaled_up(coefficient_, scale - scale_, "rounded()"), scale, Exact()};
  const Magnitude quotient =
      divide(magnitude_of(coefficient_), powers_of_ten[scale_ - scale], rounding);
  return {with_sign(quotient, coefficient_ < 0), scale, Exact()};
}

Decimal Decimal::divided_by(const Decimal& divisor, unsigned scale, Rounding rounding) const {
  if (divisor.coefficient_ == 0) throw std::domain_error("a Decimal is divided by zero");
  if (scale > digits_max) overflow("a division");
  const bool negative = is_negative() != divisor.is_negative();
  // this / divisor × 10^scale = coefficient × 10^(scale + divisor.scale - scale_) / divisor's.
  const int places = static_cast<int>(scale + divisor.scale_) - static_cast<int>(scale_);
  Magnitude dividend = magnitude_of(coefficient_);
  Magnitude by = magnitude_of(divisor.coefficient_);
  Magnitude& scaled = places >= 0 ? dividend : by;
  scaled =
      magnitude_of(scaled_up(static_cast<Coefficient>(scaled),
                             static_cast<unsigned>(places >= 0 ? places : -places), "a division"));
  const Magnitude quotient = divide(dividend, by, rounding);
  return {with_sign(quotient, negative), scale, Exact()};
}

std::weak_ordering Decimal::operator<=>(const Decimal& other) const noexcept {
  if (is_negative() != other.is_negative()) {
    return is_negative() ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  const auto parts = [](const Decimal& number) {
    const Magnitude unit = powers_of_ten[number.scale_];
    const Magnitude magnitude = magnitude_of(number.coefficient_);
    return std::array{magnitude / unit,
                      magnitude % unit * powers_of_ten[digits_max - number.scale_]};
  };
  const auto order = parts(*this) <=> parts(other);
  return is_negative() ? 0 <=> order : order;
}

Decimal Decimal::reduced() const noexcept {
  Decimal reduced = *this;
  while (reduced.scale_ != 0 && reduced.coefficient_ % 10 == 0) {
    reduced.coefficient_ /= 10;
    --reduced.scale_;
  }
  return reduced;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
