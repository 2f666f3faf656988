#include "katana/base/system/propagate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"

namespace katana {
namespace {

// As database::Error: one of a narrower type.
struct NarrowError : Error {
  using Error::Error;
};
template <class T>
using NarrowResult = std::expected<T, NarrowError>;

int evaluated = 0;
Result<int> number(int value) {
  ++evaluated;
  if (value < 0) return fail(Code::out_of_range, "below zero");
  return value;
}
Result<void> done(bool good) {
  if (!good) return fail(Code::unavailable, "not done");
  return {};
}
NarrowResult<std::unique_ptr<int>> narrow(int value) {
  if (value < 0) return std::unexpected(NarrowError(Code::invalid_argument, "narrow"));
  return std::make_unique<int>(value);
}
Task<NarrowResult<int>> narrow_later(int value) {
  KATANA_CO_TRY(const auto held, narrow(value));
  co_return *held;
}
template <class One, class Other>
Result<int> of_two(One one, Other other) {
  return static_cast<int>(one) + static_cast<int>(other);
}

Result<std::string> add(int one, int other, bool good = true) {
  KATANA_TRY(const int first, number(one));
  KATANA_TRY(auto second, narrow(other));
  KATANA_TRY_DONE(done(good));
  KATANA_TRY(int sum, of_two<int, int>(first, *second));
  return std::to_string(sum);
}
Task<Result<std::string>> add_later(int one, int other) {
  int sum = 0;
  for (const int each : {one, other}) {
    KATANA_CO_TRY(const int value, co_await narrow_later(each));
    sum += value;
  }
  KATANA_CO_TRY_DONE(done(sum < 100));
  co_return std::to_string(sum);
}
template <class T>
T result_of(Task<T> task) {
  task.start();
  return task.result();
}

TEST(Propagate, a_value_is_taken_and_an_error_is_the_callers) {
  EXPECT_EQ(add(3, 4).value(), "7");
  EXPECT_EQ(add(-1, 4).error().describe(), "below zero");
  EXPECT_EQ(add(3, -1).error().describe(), "narrow");
  EXPECT_EQ(add(3, -1).error().code(), Code::invalid_argument);
  EXPECT_EQ(add(3, 4, false).error().code(), Code::unavailable);
}

TEST(Propagate, the_same_holds_in_coroutines) {
  EXPECT_EQ(result_of(add_later(3, 4)).value(), "7");
  EXPECT_EQ(result_of(add_later(3, -4)).error().describe(), "narrow");
  EXPECT_EQ(result_of(add_later(99, 1)).error().describe(), "not done");
}

TEST(Propagate, an_expression_is_evaluated_once) {
  evaluated = 0;
  EXPECT_TRUE(add(1, 2));
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
