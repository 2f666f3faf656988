#include "katana/base/system/alarm.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "katana/base/system/monotonic_clock.hpp"

namespace katana {
namespace {

TEST(Alarm, ends_a_wait_at_the_earliest_time_and_not_before) {
  Alarm alarm;
  ASSERT_TRUE(alarm.open());
  const Instant due = monotonic_now() + milliseconds(3);
  alarm.set(due + seconds(3600));
  alarm.set(due);
  alarm.set(due + seconds(60));
  alarm.set(never);
  EXPECT_TRUE(alarm.wait());
  EXPECT_GE(monotonic_now(), due);
}

TEST(Alarm, a_time_in_the_past_ends_the_wait_at_once_and_each_wait_starts_anew) {
  Alarm alarm;
  ASSERT_TRUE(alarm.open());
  for (int round = 0; round < 3; ++round) {
    alarm.set(Instant{-5});
    EXPECT_TRUE(alarm.wait());
    alarm.set(monotonic_now() + milliseconds(1));
    EXPECT_TRUE(alarm.wait());
  }
}

TEST(Alarm, is_ended_before_during_and_after_a_wait) {
  Alarm alarm;
  ASSERT_TRUE(alarm.open());
  std::thread waiting([&] { EXPECT_FALSE(alarm.wait()); });
  alarm.end();
  waiting.join();
  EXPECT_FALSE(alarm.wait());
  alarm.set(monotonic_now() + seconds(3600));  // a late caller does not revive it
  EXPECT_FALSE(alarm.wait());
  alarm.end();
}

TEST(Alarm, without_a_timer_nothing_can_be_set) {
  Alarm alarm;
  alarm.set(Instant{0});
  alarm.end();
  EXPECT_FALSE(alarm.is_open());
  EXPECT_FALSE(alarm.wait());
}

// A thread does what others leave it, and is never asked by a condition variable.
TEST(Alarm, work_that_was_left_before_set_is_found_after_the_wait) {
  Alarm alarm;
  ASSERT_TRUE(alarm.open());
  std::mutex mutex;
  int left = 0, done = 0;
  constexpr int each = 2'000;
  std::thread worker([&] {
    while (done < 2 * each && alarm.wait()) {
      const std::lock_guard lock(mutex);
      done += left;
      left = 0;
    }
  });
  const auto leave = [&] {
    for (int count = 0; count < each; ++count) {
      {
        const std::lock_guard lock(mutex);
        ++left;
      }
      alarm.set(Instant{1});
    }
  };
  std::thread other(leave);
  leave();
  other.join();
  worker.join();
  EXPECT_EQ(done, 2 * each);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
