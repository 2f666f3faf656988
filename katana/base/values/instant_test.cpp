#include "katana/base/values/instant.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace katana {
namespace {

using namespace std::chrono_literals;

template <class T>
constexpr bool is_converted = requires(T duration) { duration_of(duration); };

TEST(Duration, is_made_of_a_chrono_duration_that_loses_no_digit) {
  EXPECT_EQ(duration_of(250ms), milliseconds(250));
  EXPECT_EQ(duration_of(24h), seconds(86'400));
  EXPECT_EQ(duration_of(std::chrono::hours::max()), Duration{INT64_MAX});
  EXPECT_EQ(duration_of(std::chrono::hours::min()), Duration{INT64_MIN});
  static_assert(is_converted<std::chrono::days>);
  static_assert(!is_converted<std::chrono::duration<std::int64_t, std::pico>>);
  static_assert(!is_converted<std::chrono::duration<double>>);
  static_assert(!is_converted<int>);
}

TEST(Duration, a_number_is_one_in_braces_alone) {
  static_assert(!std::is_convertible_v<int, Duration>);
  static_assert(std::is_aggregate_v<Duration>);  // g++ 12 awaits no list of values
  const Duration five = {5};
  EXPECT_EQ(five, nanoseconds(5));
  EXPECT_EQ(Duration{}, nanoseconds(0));
}

TEST(Duration, is_added_and_compared_with_chrono) {
  const Duration pause = seconds(1);
  EXPECT_EQ(pause + 500ms, milliseconds(1500));
  EXPECT_EQ(pause - 2s, -pause);
  EXPECT_EQ(pause * 3, 3 * pause);
  EXPECT_EQ(seconds(10) / 4, milliseconds(2500));
  EXPECT_EQ(seconds(10) / seconds(3), 3);
  EXPECT_TRUE(pause == 1s);
  EXPECT_TRUE(pause < 1min);
  EXPECT_TRUE(pause >= 1s);
  EXPECT_TRUE(1min > pause);
  Duration sum = pause;
  sum += seconds(1);
  sum *= 6;
  sum -= seconds(2);
  sum /= 5;
  EXPECT_EQ(sum, seconds(2));
  const std::chrono::nanoseconds same = pause;
  EXPECT_EQ(same, 1s);
}

TEST(Instant, moves_by_a_duration) {
  const Instant start{1'000'000'000};
  EXPECT_EQ(start + duration_of(2s), Instant{3'000'000'000});
  EXPECT_EQ(start + seconds(2) - seconds(2), start);
  EXPECT_EQ((start + seconds(2)) - start, seconds(2));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
