#include "katana/app/timed_change.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "katana/base/thread/pool.hpp"

namespace katana::app {
namespace {

// Keeps the turns: the test calls them itself, also late ones.
class TimedChangeTest : public testing::Test {
 protected:
  TimedChangeTest() {
    thread::PoolOptions options;
    options.threads_min = options.threads_max = 1;
    auto made = thread::Pool::create(options);
    EXPECT_TRUE(made);
    pool = std::move(*made);
  }

  Result<void> change_to(int to) {
    return change.begin(
        [this](Duration, std::function<void()> turn) -> Result<thread::TimedJob> {
          if (is_refused) return fail(Code::resource_exhausted, "no timer");
          turns.push_back(std::move(turn));
          return pool->after(seconds(3600), [] {});
        },
        seconds(10),
        [this, to]() -> Result<void> {
          if (to < 0) return fail(Code::invalid_argument, "below 0");
          value = to;
          return {};
        },
        [this] { value = 0; });
  }

  std::unique_ptr<thread::Pool> pool;
  TimedChange change;
  std::vector<std::function<void()>> turns;
  bool is_refused = false;
  int value = 0;
};

TEST_F(TimedChangeTest, a_change_ends_with_its_turn) {
  ASSERT_TRUE(change_to(5));
  EXPECT_EQ(value, 5);
  turns.at(0)();
  EXPECT_EQ(value, 0);
}

TEST_F(TimedChangeTest, a_turn_that_was_picked_up_does_not_end_a_later_change) {
  ASSERT_TRUE(change_to(5));
  ASSERT_TRUE(change_to(6));
  turns.at(0)();
  EXPECT_EQ(value, 6);
  turns.at(1)();
  EXPECT_EQ(value, 0);
}

TEST_F(TimedChangeTest, without_a_timer_nothing_is_changed) {
  is_refused = true;
  EXPECT_EQ(change_to(5).error().code(), Code::resource_exhausted);
  EXPECT_EQ(value, 0);
}

TEST_F(TimedChangeTest, a_change_that_fails_leaves_the_earlier_one_until_its_end) {
  ASSERT_TRUE(change_to(5));
  EXPECT_FALSE(change_to(-1));
  turns.at(1)();
  EXPECT_EQ(value, 5);
  turns.at(0)();
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
