// Decimal: an exact decimal number, for money, quantities and rates.
//
//   const Decimal price = *Decimal::parse("12.30");
//   const Decimal total = (price * 3).rounded(2);                       // 36.90
//   const Decimal each = total.divided_by(7, 2, Rounding::half_even);   // 5.27
//
// It has up to 38 digits; up to 38 of them may stand behind the point. It keeps their number: 12.30
// is written as "12.30", and is equal to 12.3.
//
// Owns       its digits.
// Thread     a value.
// Allocates  never.
// Fails      parse() returns nothing for text that is no number, has an exponent, or has too many
//            digits. Arithmetic never rounds implicitly. It throws std::overflow_error when a
//            result would need more digits; divided_by(0) throws std::domain_error.
// Source     the digits are those of decimal(38) in SQL.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

// The way in which rounded() and divided_by() remove surplus digits.
enum class Rounding : std::uint8_t {
  half_even,  // a half goes to the even digit: sums of many values are not biased
  half_up,    // a half goes away from zero, as on invoices
  down,       // towards zero
};

class Decimal {
 public:
  static constexpr unsigned digits_max = 38;                 // for the coefficient and the scale
  static constexpr std::size_t text_bytes = digits_max + 3;  // "-0." and digits
  __extension__ using Coefficient = __int128;                // a signed integer of 128 bits

  constexpr Decimal() noexcept = default;
  constexpr Decimal(std::integral auto number) noexcept : coefficient_(number) {}
  // Returns coefficient × 10^-scale: (1230, 2) is 12.30. REQUIRES scale <= 38.
  static constexpr Decimal of(std::int64_t coefficient, unsigned scale) noexcept {
    return Decimal(coefficient, scale, Exact());
  }
  static std::optional<Decimal> parse(Bytes text) noexcept;

  // The number of digits behind the point.
  unsigned scale() const noexcept { return scale_; }
  ShortText<text_bytes> to_text() const noexcept;
  double to_double() const noexcept;
  bool is_negative() const noexcept { return coefficient_ < 0; }

  Decimal operator-() const noexcept { return Decimal(-coefficient_, scale_, Exact()); }
  Decimal operator+(const Decimal& other) const;
  Decimal operator-(const Decimal& other) const { return *this + -other; }
  Decimal operator*(const Decimal& other) const;
  Decimal& operator+=(const Decimal& other) { return *this = *this + other; }
  Decimal& operator-=(const Decimal& other) { return *this = *this - other; }
  Decimal& operator*=(const Decimal& other) { return *this = *this * other; }
  // Returns the number with `scale` digits behind the point, rounded if there were more.
  Decimal rounded(unsigned scale, Rounding rounding = Rounding::half_even) const;
  Decimal divided_by(const Decimal& divisor, unsigned scale,
                     Rounding rounding = Rounding::half_even) const;

  // Compares by value: 1.0 and 1.00 are equal.
  std::weak_ordering operator<=>(const Decimal& other) const noexcept;
  bool operator==(const Decimal& other) const noexcept { return (*this <=> other) == 0; }

 private:
  friend struct std::hash<Decimal>;
  struct Exact {};
  constexpr Decimal(Coefficient coefficient, unsigned scale, Exact) noexcept
      : coefficient_(coefficient), scale_(scale) {}
  // Returns the number without zeros at its end.
  Decimal reduced() const noexcept;

  Coefficient coefficient_ = 0;  // absolute value below 10^38
  unsigned scale_ = 0;
};

// A number of JSON is read digit by digit, and never converted to a double. It is written as text,
// because most readers of JSON convert every number to a double.
template <>
struct TextForm<Decimal> {
  static constexpr Bytes expected = "a decimal number of up to 38 digits, such as 12.30";
  static constexpr Bytes schema_format = "decimal";
  static constexpr bool reads_numbers = true;
  static std::optional<Decimal> parse(Bytes text) noexcept { return Decimal::parse(text); }
  static ShortText<Decimal::text_bytes> write(const Decimal& number) noexcept {
    return number.to_text();
  }
};

}  // namespace katana

template <>
struct std::hash<katana::Decimal> {
  std::size_t operator()(const katana::Decimal& number) const noexcept {
    const katana::Decimal reduced = number.reduced();
    const auto low = static_cast<std::uint64_t>(reduced.coefficient_);
    const auto high = static_cast<std::uint64_t>(reduced.coefficient_ >> 64);
    return std::hash<std::uint64_t>()(low ^ (high * 0x9e3779b97f4a7c15) ^ reduced.scale_);
  }
};

// SPDX-License-Identifier: Apache-2.0
