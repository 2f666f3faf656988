#include "katana/http/handlers/accept.hpp"

#include <gtest/gtest.h>

namespace katana {
namespace {

TEST(Accept, no_field_takes_everything) {
  EXPECT_TRUE(accepts(std::nullopt, "application/json"));
  EXPECT_TRUE(accepts("", "application/json"));
  EXPECT_TRUE(accepts(" ", "application/json"));
}

TEST(Accept, ranges_fit_by_type_group_or_anything) {
  for (const Bytes field :
       {Bytes("application/json"), Bytes("APPLICATION/JSON"), Bytes("application/*"), Bytes("*/*"),
        Bytes("text/html, */*;q=0.1"), Bytes("text/html,application/json;charset=utf-8;q=0.3")}) {
    EXPECT_TRUE(accepts(field, "application/json")) << field;
  }
  for (const Bytes field : {Bytes("text/html"), Bytes("text/*"), Bytes("application/jsonx"),
                            Bytes("application"), Bytes("application/xml, text/*")}) {
    EXPECT_FALSE(accepts(field, "application/json")) << field;
  }
}

TEST(Accept, a_weight_of_nothing_refuses_and_the_most_specific_range_decides) {
  EXPECT_FALSE(accepts("application/json;q=0", "application/json"));
  EXPECT_FALSE(accepts("application/json; q=0.000, */*", "application/json"));
  EXPECT_FALSE(accepts("*/*, application/json;q=0", "application/json"));
  EXPECT_FALSE(accepts("*/*;q=0", "application/json"));
  EXPECT_TRUE(accepts("*/*;q=0, application/json", "application/json"));
  EXPECT_TRUE(accepts("application/json;q=0.001", "application/json"));
  EXPECT_FALSE(accepts("application/*;q=0, */*", "application/json"));
}

TEST(Accept, what_is_malformed_is_passed_over) {
  EXPECT_TRUE(accepts(";;;, application/json", "application/json"));
  EXPECT_TRUE(accepts("application/json;q", "application/json"));
  EXPECT_FALSE(accepts("/", "application/json"));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
