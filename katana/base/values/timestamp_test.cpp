#include "katana/base/values/timestamp.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <string>

#include "katana/base/values/formats.hpp"
#include "katana/base/values/time_arithmetic.hpp"

namespace katana {
namespace {

namespace chrono = std::chrono;
using namespace std::chrono_literals;
using Seconds = chrono::sys_time<chrono::seconds>;
using Nanoseconds = chrono::sys_time<chrono::nanoseconds>;

template <class T>
std::string written(const T& value) {
  return std::string(Bytes(TextForm<T>::write(value)));
}

TEST(Timestamp, is_written_with_as_many_digits_as_its_type_has) {
  const auto day = chrono::sys_days(2026y / 11 / 23) + chrono::hours(21) + chrono::minutes(12) +
                   chrono::seconds(28);
  EXPECT_EQ(written(Seconds(day)), "2026-11-23T21:12:28Z");
  EXPECT_EQ(written(chrono::sys_time<chrono::milliseconds>(day + chrono::milliseconds(7))),
            "2026-11-23T21:12:28.007Z");
  EXPECT_EQ(written(Timestamp(day)), "2026-11-23T21:12:28.000000Z");
  EXPECT_EQ(written(Nanoseconds(day + chrono::nanoseconds(123'456'789))),
            "2026-11-23T21:12:28.123456789Z");
}

TEST(Timestamp, moves_by_a_duration_and_by_chrono) {
  const Timestamp start{chrono::seconds(100)};
  Timestamp later = start + seconds(5);
  EXPECT_EQ(later, Timestamp(chrono::seconds(105)));
  EXPECT_EQ(seconds(5) + start, later);
  EXPECT_EQ(later - seconds(5), start);
  EXPECT_EQ(start + duration_of(250ms), start + 250ms);
  later += milliseconds(1500);
  later -= seconds(1);
  EXPECT_EQ(later, start + 5500ms);
  later += 500ms;
  EXPECT_EQ(later, start + 6s);
  static_assert(std::is_same_v<decltype(start + seconds(1)), Timestamp>);
  static_assert((Timestamp() + seconds(1)).time_since_epoch() == 1s);
}

TEST(Timestamp, the_difference_of_two_compares_with_a_duration) {
  const Timestamp start{chrono::seconds(100)};
  const Timestamp later = start + seconds(5);
  EXPECT_EQ(later - start, seconds(5));
  EXPECT_EQ(duration_of(later - start), seconds(5));
  EXPECT_TRUE(later - start < seconds(6));
  EXPECT_TRUE(seconds(4) < later - start);
  EXPECT_TRUE(later > start + seconds(4));
  EXPECT_EQ((later - start) + seconds(1), seconds(6));
  EXPECT_EQ(seconds(1) + (later - start), seconds(6));
}

TEST(Timestamp, digits_below_a_microsecond_do_not_move_it_and_its_ends_are_not_passed) {
  const Timestamp start{chrono::seconds(100)};
  EXPECT_EQ(start + nanoseconds(999), start);
  EXPECT_EQ(start - nanoseconds(999), start);
  EXPECT_EQ(start + nanoseconds(1'999), start + 1us);
  EXPECT_EQ(Timestamp::max() + seconds(1), Timestamp::max());
  EXPECT_EQ(Timestamp::min() - seconds(1), Timestamp::min());
  EXPECT_EQ(Timestamp::min() + seconds(-1), Timestamp::min());
  EXPECT_EQ(Timestamp::max() - seconds(-1), Timestamp::max());
}

template <class Time>
constexpr bool is_moved_in_place = requires(Time time) { time += seconds(1); };
template <class Time>
constexpr bool gives_timestamp = requires(Time time) {
  { time + seconds(1) } -> std::same_as<Timestamp>;
};

TEST(Timestamp, of_a_time_no_digits_are_lost_without_a_word) {
  static_assert(is_moved_in_place<Timestamp> && gives_timestamp<Timestamp>);
  static_assert(!is_moved_in_place<Seconds> && gives_timestamp<Seconds>);
  static_assert(!std::is_convertible_v<Nanoseconds, Timestamp> && !gives_timestamp<Nanoseconds>);
  static_assert(!std::is_convertible_v<decltype(Timestamp() - Timestamp()), chrono::seconds>);
}

TEST(Timestamp, before_1970_the_fraction_counts_forwards_too) {
  EXPECT_EQ(written(Timestamp(chrono::microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Timestamp, what_is_written_is_read_as_the_same) {
  for (const std::int64_t count :
       {0L, -1L, 1L, 1'763'932'348'123'456L, -62'167'219'200'000'000L, 253'402'300'799'999'999L}) {
    const Timestamp time{chrono::microseconds(count)};
    EXPECT_EQ(TextForm<Timestamp>::parse(written(time)), time) << count;
  }
}

TEST(Timestamp, offsets_and_fractions_of_any_length_are_read) {
  const auto parse = TextForm<Timestamp>::parse;
  EXPECT_EQ(parse("1970-01-01T02:00:00+02:00"), Timestamp());
  EXPECT_EQ(parse("1969-12-31t19:30:00.5-04:30"), Timestamp(chrono::milliseconds(500)));
  EXPECT_EQ(parse("1970-01-01T00:00:00.1234567z"), Timestamp(chrono::microseconds(123'456)));
  EXPECT_EQ(parse("1970-01-01T00:00:00.123456789123Z"), Timestamp(chrono::microseconds(123'456)));
}

TEST(Timestamp, a_leap_second_is_the_second_behind_it) {
  EXPECT_EQ(TextForm<Seconds>::parse("2016-12-31T23:59:60Z"),
            Seconds(chrono::sys_days(2017y / 1 / 1)));
  EXPECT_EQ(TextForm<Seconds>::parse("2016-12-31T22:59:60Z"), std::nullopt);
}

TEST(Timestamp, what_is_malformed_or_does_not_exist_is_nothing) {
  for (const Bytes text :
       {"", "2026-11-23", "2026-02-29T00:00:00Z", "2026-11-23 21:12:28Z", "2026-11-23T21:12:28",
        "2026-11-23T24:00:00Z", "2026-11-23T21:12:28.Z", "2026-11-23T21:12:28Z ",
        "2026-13-01T00:00:00Z", "02026-11-23T21:12:28Z", "2026-11-23T21:12:28+2:00"}) {
    EXPECT_EQ(TextForm<Timestamp>::parse(text), std::nullopt) << text;
    EXPECT_FALSE(is_date_time(text)) << text;
  }
}

TEST(Timestamp, beyond_what_the_type_holds_is_nothing) {
  EXPECT_EQ(TextForm<Nanoseconds>::parse("2263-01-01T00:00:00Z"), std::nullopt);
  EXPECT_EQ(TextForm<Nanoseconds>::parse("1677-01-01T00:00:00Z"), std::nullopt);
  EXPECT_NE(TextForm<Nanoseconds>::parse("2262-01-01T00:00:00Z"), std::nullopt);
}

TEST(Timestamp, years_that_rfc_3339_lacks_become_the_nearest) {
  EXPECT_EQ(written(Timestamp::max()), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(written(Timestamp::min()), "0000-01-01T00:00:00.000000Z");
}

TEST(Date, is_a_day_that_exists) {
  EXPECT_EQ(TextForm<Date>::parse("2024-02-29"), 2024y / 2 / 29);
  for (const Bytes text : {"2023-02-29", "2024-2-29", "2024-02-29Z", "2024-00-01", "2024-01-00"}) {
    EXPECT_EQ(TextForm<Date>::parse(text), std::nullopt) << text;
    EXPECT_FALSE(is_date(text)) << text;
  }
  EXPECT_EQ(written(Date(2024y / 2 / 29)), "2024-02-29");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
