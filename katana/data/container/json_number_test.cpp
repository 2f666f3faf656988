#include "katana/data/container/json_number.hpp"

#include <gtest/gtest.h>

namespace katana::container {
namespace {

TEST(JsonNumber, is_a_multiple_by_its_decimal_digits) {
  EXPECT_TRUE(is_multiple(19.99, 0.01));
  EXPECT_FALSE(is_multiple(19.995, 0.01));
  EXPECT_TRUE(is_multiple(-6, 3));
  EXPECT_TRUE(is_multiple(1e300, 8));
  EXPECT_FALSE(is_multiple(1e300, 7));
}

TEST(JsonNumber, that_is_zero_is_a_multiple_of_all) {
  EXPECT_TRUE(is_multiple(0, 0.01));
  EXPECT_TRUE(is_multiple(-0.0, 1e300));
}

TEST(JsonNumber, that_is_smaller_is_no_multiple) {
  EXPECT_FALSE(is_multiple(0.5, 10));
  EXPECT_FALSE(is_multiple(1e-300, 1e300));
}

TEST(JsonNumber, that_no_double_has_keeps_all_of_its_digits) {
  constexpr Number odd = 9'007'199'254'740'993;  // 2^53 + 1, a multiple of 3
  EXPECT_TRUE(is_multiple(odd, 3));
  EXPECT_FALSE(is_multiple(odd, 2));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
