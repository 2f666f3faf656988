#include "katana/wire/http/date.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <random>
#include <string>

namespace katana::http {
namespace {

std::string formatted(std::int64_t seconds) {
  std::array<char, date_bytes> out{};
  format_date(seconds, out);
  return {out.data(), out.size()};
}

// The C library's opinion, in the C locale.
std::string formatted_by_libc(std::int64_t seconds, const char* format) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> out{};
  return {out.data(), std::strftime(out.data(), out.size(), format, &parts)};
}

constexpr const char* imf_fixdate = "%a, %d %b %Y %H:%M:%S GMT";
constexpr const char* rfc850 = "%A, %d-%b-%y %H:%M:%S GMT";
constexpr const char* asctime_format = "%a %b %e %H:%M:%S %Y";
constexpr std::int64_t day_seconds = 86'400;

TEST(Date, the_example_of_the_rfc_is_written_and_read_in_its_three_forms) {
  EXPECT_EQ(formatted(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784'111'777);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT"), 784'111'777);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994"), 784'111'777);
}

// The calendar repeats after 400 years. The years after that up to 9999 are walked in steps that
// meet every day of the year and of the week.
TEST(Date, every_day_of_400_years_and_many_up_to_9999_are_written_as_libc_writes_them) {
  constexpr std::int64_t cycle_days = 146'097;
  for (std::int64_t day = 0; day * day_seconds <= date_seconds_max;
       day += day < cycle_days ? 1 : 41) {
    const std::int64_t seconds = day * day_seconds + day % day_seconds;
    ASSERT_EQ(formatted(seconds), formatted_by_libc(seconds, imf_fixdate));
  }
}

TEST(Date, every_second_of_a_day_is_written_as_libc_writes_it) {
  for (std::int64_t second = 0; second < day_seconds; ++second) {
    const std::int64_t seconds = 951'782'400 + second;  // 29 February 2000
    ASSERT_EQ(formatted(seconds), formatted_by_libc(seconds, imf_fixdate));
  }
}

TEST(Date, what_was_written_is_read_back) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100'000; ++round) {
    const auto seconds = static_cast<std::int64_t>(random() % (date_seconds_max + 1));
    ASSERT_EQ(parse_date(formatted(seconds)), seconds);
    ASSERT_EQ(parse_date(formatted_by_libc(seconds, asctime_format)), seconds);
  }
  EXPECT_EQ(parse_date(formatted(0)), 0);
  EXPECT_EQ(parse_date(formatted(date_seconds_max)), date_seconds_max);
}

TEST(Date, a_time_outside_the_calendar_is_written_as_the_nearest_inside) {
  EXPECT_EQ(formatted(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(formatted(INT64_MIN), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(formatted(date_seconds_max + 1), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(formatted(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(Date, a_date_before_1970_is_negative) {
  for (std::int64_t day = 0; day < 719'528; day += 13) {  // back to the year 0
    const std::int64_t seconds = -day * day_seconds - 1;
    std::string text = formatted_by_libc(seconds, "%a, %d %b ");
    const std::string year = formatted_by_libc(seconds, "%Y");
    text += std::string(4 - year.size(), '0') + year + formatted_by_libc(seconds, " %T GMT");
    ASSERT_EQ(parse_date(text), seconds) << text;
  }
}

TEST(Date, a_two_digit_year_is_at_most_fifty_years_ahead) {
  constexpr std::int64_t now_2024 = 1'704'067'200;
  EXPECT_EQ(formatted(*parse_date("Sunday, 06-Nov-73 08:49:37 GMT", now_2024)).substr(12, 4),
            "2073");
  EXPECT_EQ(formatted(*parse_date("Sunday, 06-Nov-74 08:49:37 GMT", now_2024)).substr(12, 4),
            "1974");
  EXPECT_EQ(formatted(*parse_date("Sunday, 06-Nov-24 08:49:37 GMT", now_2024)).substr(12, 4),
            "2024");
  constexpr std::int64_t now_2099 = 4'070'908'800;
  EXPECT_EQ(formatted(*parse_date("Sunday, 06-Nov-00 08:49:37 GMT", now_2099)).substr(12, 4),
            "2100");
}

TEST(Date, an_rfc850_date_within_fifty_years_of_now_is_read_back) {
  std::mt19937_64 random(2);
  constexpr std::int64_t now = 1'800'000'000;
  constexpr std::int64_t span = 49LL * 365 * day_seconds;
  for (int round = 0; round < 100'000; ++round) {
    const std::int64_t seconds = now - span + static_cast<std::int64_t>(random() % (2 * span));
    ASSERT_EQ(parse_date(formatted_by_libc(seconds, rfc850), now), seconds);
  }
}

TEST(Date, a_leap_day_exists_in_leap_years_only) {
  EXPECT_TRUE(parse_date("Tue, 29 Feb 2000 00:00:00 GMT"));
  EXPECT_TRUE(parse_date("Thu, 29 Feb 2024 00:00:00 GMT"));
  EXPECT_FALSE(parse_date("Mon, 29 Feb 1900 00:00:00 GMT"));
  EXPECT_FALSE(parse_date("Wed, 29 Feb 2023 00:00:00 GMT"));
  EXPECT_TRUE(parse_date("Tuesday, 29-Feb-00 00:00:00 GMT"));
  EXPECT_FALSE(parse_date("Tuesday, 29-Feb-01 00:00:00 GMT"));
}

TEST(Date, a_leap_second_is_the_second_after_the_last) {
  EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT"), 1'483'228'800);
  EXPECT_FALSE(parse_date("Sat, 31 Dec 2016 22:59:60 GMT"));
  EXPECT_FALSE(parse_date("Sat, 31 Dec 2016 23:59:61 GMT"));
}

TEST(Date, the_name_of_the_day_need_not_be_the_right_one) {
  EXPECT_EQ(parse_date("Mon, 06 Nov 1994 08:49:37 GMT"), 784'111'777);
  EXPECT_FALSE(parse_date("Foo, 06 Nov 1994 08:49:37 GMT"));
}

TEST(Date, what_is_not_a_date_is_refused) {
  for (const Bytes text : {"",
                           "0",
                           "Sun",
                           "Sun, ",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "sun, 06 nov 1994 08:49:37 gmt",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, +6 Nov 1994 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun Nov  0 08:49:37 1994"}) {
    EXPECT_FALSE(parse_date(text)) << text;
  }
}

TEST(Date, every_beginning_and_every_changed_byte_of_a_date_is_read_safely) {
  for (const Bytes date : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    for (std::size_t size = 0; size < date.size(); ++size) {
      EXPECT_FALSE(parse_date(std::string(date.substr(0, size)))) << size;
      for (int value = 0; value < 256; ++value) {
        std::string changed(date);
        changed[size] = static_cast<char>(value);
        (void)parse_date(changed);
      }
    }
  }
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
