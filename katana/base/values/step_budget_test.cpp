#include "katana/base/values/step_budget.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace katana {
namespace {

TEST(StepBudget, gives_as_many_steps_as_it_has_and_no_more) {
  StepBudget budget(10);
  EXPECT_TRUE(budget.take(4));
  EXPECT_TRUE(budget.take(6));
  EXPECT_FALSE(budget.is_spent());
  EXPECT_EQ(budget.left(), 0U);
  EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(1));
  EXPECT_TRUE(budget.is_spent());
}

TEST(StepBudget, that_refused_once_gives_nothing_more) {
  StepBudget budget(10);
  EXPECT_FALSE(budget.take(11));
  EXPECT_FALSE(budget.take(1));
  EXPECT_EQ(budget.left(), 0U);
}

TEST(StepBudget, grows_with_the_bytes_of_a_message_and_does_not_wrap) {
  EXPECT_EQ(StepBudget::for_bytes(0), StepBudget::steps_default);
  EXPECT_EQ(StepBudget::for_bytes(100, 7), 7 + 100 * StepBudget::steps_per_byte);
  EXPECT_EQ(StepBudget::for_bytes(SIZE_MAX, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(StepBudget::for_bytes(SIZE_MAX / 2), UINT64_MAX);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
