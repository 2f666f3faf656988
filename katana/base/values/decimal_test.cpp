#include "katana/base/values/decimal.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace katana {
namespace {

Decimal decimal(Bytes text) { return Decimal::parse(text).value(); }
std::string text_of(const Decimal& number) { return std::string(Bytes(number.to_text())); }

const std::string nines(38, '9');

TEST(Decimal, keeps_the_digits_that_were_written) {
  const std::string fraction = "0." + nines;
  for (const Bytes text :
       {Bytes("0"), Bytes("12.30"), Bytes("-0.05"), Bytes("0.00"), Bytes("-7"),
        Bytes("123456789012345678.123456789012345678"), Bytes(nines), Bytes(fraction)}) {
    EXPECT_EQ(text_of(decimal(text)), text);
  }
  EXPECT_EQ(text_of(decimal("007.5")), "7.5");
  EXPECT_EQ(text_of(decimal("-" + fraction)).size(), Decimal::text_bytes);
}

TEST(Decimal, what_is_none_is_nothing) {
  const std::string too_long = nines + "0", too_fine = "0." + nines + "0";
  for (const Bytes text :
       {Bytes(""), Bytes("-"), Bytes("."), Bytes("1."), Bytes(".5"), Bytes("1.2.3"), Bytes("1e3"),
        Bytes("+1"), Bytes(" 1"), Bytes("1,5"), Bytes("nan"), Bytes(too_long), Bytes(too_fine)}) {
    EXPECT_EQ(Decimal::parse(text), std::nullopt) << text;
  }
}

TEST(Decimal, arithmetic_is_exact) {
  EXPECT_EQ(text_of(decimal("0.1") + decimal("0.2")), "0.3");
  EXPECT_EQ(text_of(decimal("10") - decimal("0.01")), "9.99");
  EXPECT_EQ(text_of(decimal("12.30") * 3), "36.90");
  EXPECT_EQ(text_of(decimal("-1.5") * decimal("1.5")), "-2.25");
  Decimal sum = 0;
  for (int count = 0; count < 1000; ++count) sum += Decimal::of(1, 2);
  EXPECT_EQ(text_of(sum), "10.00");
}

TEST(Decimal, rounds_as_it_is_told) {
  const auto rounded = [](Bytes text, Rounding how) {
    return text_of(decimal(text).rounded(1, how));
  };
  EXPECT_EQ(rounded("0.25", Rounding::half_even), "0.2");
  EXPECT_EQ(rounded("0.35", Rounding::half_even), "0.4");
  EXPECT_EQ(rounded("0.251", Rounding::half_even), "0.3");
  EXPECT_EQ(rounded("0.25", Rounding::half_up), "0.3");
  EXPECT_EQ(rounded("-0.25", Rounding::half_up), "-0.3");
  EXPECT_EQ(rounded("-0.29", Rounding::down), "-0.2");
  EXPECT_EQ(rounded("7", Rounding::down), "7.0");
}

TEST(Decimal, is_divided_to_as_many_digits_as_are_wanted) {
  EXPECT_EQ(text_of(decimal("36.90").divided_by(7, 2)), "5.27");
  EXPECT_EQ(text_of(decimal("1").divided_by(3, 30)), "0.333333333333333333333333333333");
  EXPECT_EQ(text_of(decimal("-1").divided_by(decimal("0.08"), 1)), "-12.5");
  EXPECT_EQ(text_of(decimal("1.005").divided_by(10, 1)), "0.1");
  EXPECT_THROW((void)decimal("1").divided_by(0, 2), std::domain_error);
}

TEST(Decimal, a_result_of_too_many_digits_is_an_error) {
  EXPECT_THROW((void)(decimal(nines) + 1), std::overflow_error);
  EXPECT_THROW((void)(decimal(nines) * 2), std::overflow_error);
  EXPECT_THROW((void)(decimal(nines) + decimal("0.1")), std::overflow_error);
  EXPECT_THROW((void)decimal(nines).rounded(1), std::overflow_error);
  EXPECT_THROW((void)decimal("1").divided_by(3, 38), std::overflow_error);
  EXPECT_EQ(text_of(decimal(nines) - 1 + 1), nines);
}

TEST(Decimal, is_compared_by_value) {
  EXPECT_EQ(decimal("1.0"), decimal("1.00"));
  EXPECT_EQ(decimal("-0.00"), decimal("0"));
  EXPECT_LT(decimal("-2"), decimal("-1.9"));
  EXPECT_LT(decimal("-0.1"), decimal("0.1"));
  EXPECT_LT(decimal("0." + nines), decimal(nines));
  EXPECT_EQ(std::hash<Decimal>()(decimal("1.0")), std::hash<Decimal>()(decimal("1.000")));
}

TEST(Decimal, becomes_the_nearest_double) { EXPECT_EQ(decimal("12.30").to_double(), 12.30); }

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
