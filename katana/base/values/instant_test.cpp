#include "katana/base/values/instant.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace katana {
namespace {

using namespace std::chrono_literals;

TEST(Duration, is_made_of_a_chrono_duration_that_loses_no_digit) {
  EXPECT_EQ(Duration(250ms), milliseconds(250));
  const Duration day = 24h;
  EXPECT_EQ(day, seconds(86'400));
  EXPECT_EQ(Duration(std::chrono::hours::max()), Duration(INT64_MAX));
  EXPECT_EQ(Duration(std::chrono::hours::min()), Duration(INT64_MIN));
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  static_assert(!std::is_convertible_v<Picoseconds, Duration>);
  static_assert(!std::is_convertible_v<std::chrono::duration<double>, Duration>);
}

TEST(Duration, a_number_is_one_in_braces_alone) {
  static_assert(!std::is_convertible_v<int, Duration>);
  static_assert(!std::is_convertible_v<std::int64_t, Duration>);
  const Duration five = {5};
  EXPECT_EQ(five, nanoseconds(5));
  EXPECT_EQ(Duration{}, nanoseconds(0));
}

TEST(Duration, is_added_and_compared_with_chrono) {
  const Duration pause = seconds(1);
  EXPECT_EQ(pause + 500ms, milliseconds(1500));
  EXPECT_EQ(2s - pause, pause);
  EXPECT_EQ(pause * 3, 3 * pause);
  EXPECT_EQ(seconds(10) / 4, milliseconds(2500));
  EXPECT_EQ(seconds(10) / 3s, 3);
  EXPECT_EQ(-pause, Duration(-1s));
  EXPECT_LT(pause, 1min);
  EXPECT_GE(pause, 1s);
  Duration sum = pause;
  sum += 1s;
  sum *= 6;
  sum -= seconds(2);
  sum /= 5;
  EXPECT_EQ(sum, 2s);
  const std::chrono::nanoseconds same = pause;
  EXPECT_EQ(same, 1s);
}

TEST(Instant, moves_by_a_duration_of_either_kind) {
  const Instant start{1'000'000'000};
  EXPECT_EQ(start + 2s, Instant{3'000'000'000});
  EXPECT_EQ(start + 2s - 2s, start);
  EXPECT_EQ((start + 2s) - start, seconds(2));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
