#include "katana/stores/database/range.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace katana::database {
namespace {

using Form = TextForm<Range<std::int32_t>>;

TEST(Range, has_the_text_that_postgresql_has) {
  EXPECT_EQ(Form::write({.lower = 1, .upper = 10}), "[1,10)");
  EXPECT_EQ(Form::write({.upper = -3, .has_lower = false, .has_upper = true}), "(,-3]");
  EXPECT_EQ(Form::write({.is_empty = true}), "empty");
  for (const char* const text : {"[1,10)", "(1,10]", "(,)", "[,5)", "empty"}) {
    const auto parsed = Form::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(Form::write(*parsed), text);
  }
  EXPECT_EQ(Form::parse("[\"1\",\"10\")"), (Range<std::int32_t>{.lower = 1, .upper = 10}));
  for (const char* const text : {"", "[", "[1,2", "1,2)", "[1;2)", "[x,2)", "[1x,2)", "[1,2x)",
                                 "[1,99999999999)", "[1,99999999999999999999)"}) {
    EXPECT_FALSE(Form::parse(text)) << text;
  }
}

TEST(Range, contains_what_is_between_its_bounds) {
  const Range<std::int32_t> range{.lower = 1, .upper = 3};
  EXPECT_TRUE(range.contains(1) && range.contains(2));
  EXPECT_FALSE(range.contains(0) || range.contains(3));
  const Range<std::int32_t> open{.lower = 1, .has_lower = false};
  EXPECT_TRUE(open.contains(2'000'000));
  EXPECT_FALSE(open.contains(1));
  EXPECT_FALSE((Range<std::int32_t>{.is_empty = true}).contains(1));
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
