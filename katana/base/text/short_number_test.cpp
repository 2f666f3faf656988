#include "katana/base/text/short_number.hpp"

#include <gtest/gtest.h>

namespace katana {
namespace {

TEST(ShortNumber, has_its_digits_and_never_an_exponent) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.00001), "0");
  EXPECT_EQ(short_number(0.00035), "0.00035");
  EXPECT_EQ(short_number(0.3512), "0.35");
  EXPECT_EQ(short_number(9.96), "10");
  EXPECT_EQ(short_number(12.34), "12");
  EXPECT_EQ(short_number(99.4), "99");
  EXPECT_EQ(short_number(99.5), "100") << "and not 1e+02";
  EXPECT_EQ(short_number(140), "140");
  EXPECT_EQ(short_number(-1402.6), "-1403");
  EXPECT_EQ(short_number(10, 3), "10");
  EXPECT_EQ(short_number(2.5, 3), "2.5");
  EXPECT_EQ(short_number(999.5, 3), "1000");
  EXPECT_EQ(short_number(3600, 3), "3600");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
