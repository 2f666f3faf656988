#include "katana/base/system/result.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
  // The narrower ones stay unchanged.
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

TEST(Error, moving_leaves_something_harmless_and_assigning_to_itself_changes_nothing) {
  Error error(Code::not_found, "a message");
  Error other = std::move(error);
  EXPECT_EQ(error.code(), Code::internal);  // NOLINT: what is left is what the test is about
  const Error& same = other;
  other = same;
  EXPECT_EQ(other.describe(), "a message");
  other = Error(Code::cancelled);
  EXPECT_EQ(other.code(), Code::cancelled);
}

TEST(Error, a_chain_of_a_hundred_thousand_causes_is_destroyed) {
  Error error(Code::internal, "root");
  for (int count = 0; count < 100'000; ++count) error = error.within("wider");
  EXPECT_EQ(error.message(), "wider");
}

TEST(Error, one_root_is_shared_by_errors_of_several_threads) {
  const Error root(Code::data_loss, "root");
  std::vector<std::thread> threads;
  for (int count = 0; count < 4; ++count) {
    threads.emplace_back([&root] {
      for (int turn = 0; turn < 1000; ++turn) {
        const Error wider = root.within("wider");
        const Error copy = wider;
        if (copy.describe() != "wider: root") std::abort();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(root.describe(), "root");
}

TEST(Result, an_error_is_one_word_and_a_result_is_little_more_than_its_value) {
  static_assert(sizeof(Error) == sizeof(void*));
  static_assert(sizeof(Result<int>) == 2 * sizeof(void*));
  static_assert(sizeof(Result<void>) == 2 * sizeof(void*));
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

// SPDX-License-Identifier: Apache-2.0
