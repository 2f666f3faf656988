#include "katana/base/values/instant.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

#include "katana/base/values/time_arithmetic.hpp"

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
  EXPECT_EQ(500ms + pause, milliseconds(1500));
  EXPECT_EQ(3s - pause, seconds(2));
  EXPECT_EQ(seconds(10) / 3s, 3);
  EXPECT_EQ(1min / seconds(7), 8);
  EXPECT_EQ(seconds(10) % 3s, pause);
  EXPECT_EQ(seconds(10) % seconds(4), seconds(2));
  sum += 1min;
  sum -= 500ms;
  EXPECT_EQ(sum, milliseconds(61'500));
}

template <class T>
constexpr bool is_scaled_by =
    requires(T factor) { seconds(1) * factor; } || requires(T factor) { factor* seconds(1); } ||
    requires(T factor) { seconds(1) / factor; } || requires(T factor) { seconds(factor); } ||
    requires(T factor) { milliseconds(factor); } || requires(T factor) { nanoseconds(factor); };

template <class T>
constexpr bool takes = requires(T other) { seconds(1) + other; } || requires(T other) {
  other - seconds(1);
} || requires(T other) { seconds(1) < other; } || requires(T other) { seconds(1) / other; };

TEST(Duration, loses_no_digits_without_a_word) {
  static_assert(is_scaled_by<int> && is_scaled_by<std::uint32_t>);
  static_assert(!is_scaled_by<double> && !is_scaled_by<float>);
  static_assert(!std::is_convertible_v<Duration, std::chrono::microseconds>);
  static_assert(takes<std::chrono::hours>);
  static_assert(!takes<std::chrono::duration<double>>);
}

TEST(Instant, moves_by_a_duration) {
  const Instant start{1'000'000'000};
  EXPECT_EQ(start + duration_of(2s), Instant{3'000'000'000});
  EXPECT_EQ(start + seconds(2) - seconds(2), start);
  EXPECT_EQ((start + seconds(2)) - start, seconds(2));
  EXPECT_EQ(seconds(2) + start, start + 2s);
  EXPECT_EQ(start - 500ms, Instant{500'000'000});
  Instant moved = start;
  moved += seconds(3);
  moved -= seconds(1);
  EXPECT_EQ(moved, start + 2s);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
