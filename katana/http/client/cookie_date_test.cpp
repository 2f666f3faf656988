#include "katana/http/client/cookie_date.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace katana::client {
namespace {

TEST(CookieDateTest, what_the_rfc_allows_is_read) {
  constexpr std::int64_t moment_s = 784'111'777;  // 1994-11-06 08:49:37
  for (const char* const text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "06-nov-1994 8:49:37", "8:49:37 1994 6 november",
        "NOV 6 94 08:49:37 +0500", "6 Nov 94x 08:49:37y", "xxx;06/Nov/1994[08:49:37]",
        "06 Nov 94 08:49:37 1 2 3", "1994 Nov 06 08:49:37"}) {
    EXPECT_EQ(parse_cookie_date(text), moment_s) << text;
  }
}

// Kinds of dates that http-state has, with other dates. `tools/matrix http-state` reads its own.
TEST(CookieDateTest, what_servers_send_besides_is_read) {
  constexpr std::int64_t moment_s = 1'709'197'207;  // 2024-02-29 09:00:07
  for (const char* const text :
       {"Thu Feb 29 09:00:07 2024 GMT", "09:00:07 Thu Feb 29 2024", "Thu Feb 09:00:07 29 2024 GMT",
        "Thu Feb 29 2024 GMT 09:00:07", "29-Thu, Feb 09:00:07 GMT 24", "29 24 Feb 09:00:07",
        "2024 February 29 9:0:7", "Donnerstag , 29 - Febr-24 09:00:07", ",29-Feb-2024 09:00:07 GMT",
        "29/Feb\\2024 09:00:07", "\"Thu, 29-Feb-24\\\"09:00:07\\\"GMT\"",
        "Thu, 29-Feb-24 09:00:07 GMT-0500 (EST)", "Thu, 29-Feb-24 09:00:07 -0300",
        "Thu, 29-Feb-24 09:00:07 10:11:12", "Thu, 29-Feb-24 ::07 09:00:07",
        "Thu, 29-Feb-24 noon:x 09:00:07"}) {
    EXPECT_EQ(parse_cookie_date(text), moment_s) << text;
  }
  for (const char* const text :
       {"Thu, 29-Feb-24 77:00:07 09:00:07", "77 February 29 09:00:07", "029-Feb-2024 09:00:07",
        "29-Feb-120240 09:00:07", "29-Feb-2024 09:61:0000000007", "29-Feb-2024 09: 00:07",
        "NeverOnSunday"}) {
    EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
  }
}

TEST(CookieDateTest, two_digits_are_a_year_from_1970_to_2069) {
  EXPECT_EQ(parse_cookie_date("1 Jan 70 00:00:00"), 0);
  EXPECT_EQ(parse_cookie_date("1 Jan 99 00:00:00"), 915'148'800);
  EXPECT_EQ(parse_cookie_date("1 Jan 00 00:00:00"), 946'684'800);
  EXPECT_EQ(parse_cookie_date("1 Jan 69 00:00:00"), 3'124'224'000);
  EXPECT_EQ(parse_cookie_date("1 Jan 1601 00:00:00"), -11'644'473'600);
  EXPECT_EQ(parse_cookie_date("29 Feb 2000 23:59:59"), 951'868'799);
}

TEST(CookieDateTest, what_lacks_a_part_or_does_not_exist_is_no_date) {
  for (const char* const text : {"",
                                 "GMT",
                                 "06 Nov 1994",
                                 "Nov 1994 08:49:37",
                                 "06 1994 08:49:37",
                                 "06 Nov 08:49:37",
                                 "06 Nov 1600 08:49:37",
                                 "06 Nov 199 08:49:37",
                                 "06 Nov 19945 08:49:37",
                                 "00 Nov 1994 08:49:37",
                                 "32 Nov 1994 08:49:37",
                                 "31 Nov 1994 08:49:37",
                                 "29 Feb 2001 08:49:37",
                                 "06 Nov 1994 24:00:00",
                                 "06 Nov 1994 08:60:00",
                                 "06 Nov 1994 08:49:60",
                                 "06 Nov 1994 08:49",
                                 "06 Nov 1994 008:49:37",
                                 "06 Nov 1994 08:49:377",
                                 "06 Nov 1994 08::37",
                                 "006 Nov 1994 08:49:37"}) {
    EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
