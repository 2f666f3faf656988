#include "katana/base/result.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace katana {
namespace {

constexpr Code first_code = Code::invalid_argument;
constexpr Code last_code = Code::internal;

TEST(Error, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (auto code = static_cast<int>(first_code); code <= static_cast<int>(last_code); ++code) {
    const std::string_view name = code_name(static_cast<Code>(code));
    EXPECT_FALSE(name.empty()) << code;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(code_name(Code::not_found), "not found");
  EXPECT_EQ(code_name(Code::internal), "internal error");
}

TEST(Error, without_a_message_it_is_called_by_its_code) {
  const Error error(Code::deadline_exceeded);
  EXPECT_EQ(error.code(), Code::deadline_exceeded);
  EXPECT_EQ(error.message(), "deadline exceeded");
  EXPECT_EQ(error.describe(), "deadline exceeded");
}

TEST(Error, says_its_message) {
  const Error error(Code::not_found, "user 7 does not exist");
  EXPECT_EQ(error.message(), "user 7 does not exist");
  EXPECT_EQ(error.describe(), "user 7 does not exist");
}

TEST(Error, a_wider_error_keeps_the_code_and_names_every_cause_down_to_the_root) {
  const Error root(Code::permission_denied, "open 'a.db': permission denied");
  const Error middle = root.within("open the database");
  const Error outer = middle.within("start");
  EXPECT_EQ(outer.code(), Code::permission_denied);
  EXPECT_EQ(outer.message(), "start");
  EXPECT_EQ(outer.describe(), "start: open the database: open 'a.db': permission denied");
  // The narrower ones stay what they were.
  EXPECT_EQ(middle.describe(), "open the database: open 'a.db': permission denied");
  EXPECT_EQ(root.describe(), "open 'a.db': permission denied");
}

TEST(Error, a_code_alone_is_named_as_a_cause) {
  EXPECT_EQ(Error(Code::data_loss).within("read the journal").describe(),
            "read the journal: data loss");
}

TEST(Error, a_copy_outlives_the_original) {
  Error copy(Code::internal);
  {
    const Error original = Error(Code::unavailable, "first").within("second");
    copy = original;
  }
  EXPECT_EQ(copy.describe(), "second: first");
}

TEST(Result, holds_a_value_or_an_error) {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return fail(Code::invalid_argument, "odd");
    return number / 2;
  };
  EXPECT_EQ(half(8), 4);
  ASSERT_FALSE(half(7));
  EXPECT_EQ(half(7).error().message(), "odd");
}

TEST(Result, fails_with_a_code_alone) {
  const Result<void> result = fail(Code::cancelled);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace katana
