#include "katana/base/values/formats.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

TEST(Formats, an_email_address_has_a_local_part_and_a_domain) {
  for (const Bytes text : {"a@b", "ada@example.org", "a.b+c@x-y.example", "!#$%&'*+-/=?^_`{|}~@b",
                           "1@2.3", "UPPER@EXAMPLE.ORG"}) {
    EXPECT_TRUE(is_email(text)) << text;
  }
  for (const Bytes text : {"",           "@",          "a@",   "@b",   "a b@c",     "a@b c",
                           "a@@b",       "a@b@c",      ".a@b", "a.@b", "a..b@c",    "a@-b",
                           "a@b-",       "a@b..c",     "a@.b", "a@b.", "\"a b\"@c", "a@[127.0.0.1]",
                           "\xc3\xa9@b", "a@\xc3\xa9", "a@b\n"}) {
    EXPECT_FALSE(is_email(text)) << text;
  }
}

TEST(Formats, the_parts_of_an_email_address_are_limited) {
  const std::string domain = "@example.org";
  EXPECT_TRUE(is_email(std::string(64, 'a') + domain));
  EXPECT_FALSE(is_email(std::string(65, 'a') + domain));
  EXPECT_TRUE(is_email("a@" + std::string(63, 'b')));
  EXPECT_FALSE(is_email("a@" + std::string(64, 'b')));
  std::string longest = "a@";
  while (longest.size() < 254) longest += longest.size() % 2 == 0 ? "b" : ".";
  longest.back() = 'b';
  EXPECT_TRUE(is_email(longest)) << longest;
  EXPECT_FALSE(is_email(longest + "b"));
}

TEST(Formats, a_uuid_is_36_characters_of_hexadecimal_groups) {
  EXPECT_TRUE(is_uuid("00000000-0000-0000-0000-000000000000"));
  EXPECT_TRUE(is_uuid("F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"));
  for (const Bytes text :
       {"", "f81d4fae7dec11d0a76500a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
        "g81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a76500-a0c91e6bf6",
        "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6 "}) {
    EXPECT_FALSE(is_uuid(text)) << text;
  }
}

TEST(Formats, a_date_is_a_day_that_exists) {
  for (const Bytes text : {"2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31", "2023-04-30"}) {
    EXPECT_TRUE(is_date(text)) << text;
  }
  for (const Bytes text : {"", "2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-01",
                           "2023-01-00", "2023-01-32", "23-01-01", "2023-1-1", "2023-01-01 "}) {
    EXPECT_FALSE(is_date(text)) << text;
  }
}

TEST(Formats, a_date_and_time_has_an_offset_and_real_hours) {
  for (const Bytes text : {"2024-02-29T23:59:59Z", "1985-04-12T23:20:50.52z",
                           "1996-12-19t16:39:57-08:00", "2024-01-01T00:00:00+23:59"}) {
    EXPECT_TRUE(is_date_time(text)) << text;
  }
  for (const Bytes text :
       {"", "2024-02-29", "2024-02-29T24:00:00Z", "2024-02-29T23:60:00Z", "2024-02-29T23:59:61Z",
        "2024-02-29T23:59:59", "2024-02-29 23:59:59Z", "2024-02-29T23:59:59.Z",
        "2024-02-29T23:59:59+24:00", "2024-02-29T23:59:59+1:00", "2024-02-29T23:59:59ZZ"}) {
    EXPECT_FALSE(is_date_time(text)) << text;
  }
}

TEST(Formats, second_sixty_is_the_last_of_a_day_in_utc) {
  EXPECT_TRUE(is_date_time("1990-12-31T23:59:60Z"));
  EXPECT_TRUE(is_date_time("1990-12-31T15:59:60-08:00"));
  EXPECT_TRUE(is_date_time("1991-01-01T00:29:60+00:30"));
  EXPECT_FALSE(is_date_time("1990-12-31T22:59:60Z"));
  EXPECT_FALSE(is_date_time("1990-12-31T23:59:60-08:00"));
}

TEST(Formats, characters_are_counted_not_octets) {
  EXPECT_EQ(count_code_points(""), 0u);
  EXPECT_EQ(count_code_points("abc"), 3u);
  EXPECT_EQ(count_code_points("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), 3u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
