#include "katana/observe/trace/baggage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>

namespace katana::trace {
namespace {

const std::array<std::string, 3> listed_keys{"tenant", "tier", "x"};

std::string kept_baggage(std::initializer_list<Bytes> values) {
  Baggage baggage(listed_keys);
  for (const Bytes each : values) baggage.add(each);
  return std::string(baggage.text());
}

bool ignores(Bytes value) {
  Baggage baggage(listed_keys);
  baggage.add(value);
  return baggage.has_ignored();
}

TEST(Baggage, members_with_listed_keys_are_kept_in_their_order_and_no_other) {
  EXPECT_EQ(kept_baggage({"tenant=a,secret=s,tier=gold"}), "tenant=a,tier=gold");
  EXPECT_EQ(kept_baggage({"secret=s", "TENANT=a", "tenants=b"}), "") << "case counts";
  EXPECT_EQ(kept_baggage({}), "");
  EXPECT_FALSE(ignores("secret=s"));
}

TEST(Baggage, fields_of_one_name_are_one_list) {
  EXPECT_EQ(kept_baggage({" tenant = a ;p=1 , x=", "", ",,", "\ttier=b"}),
            "tenant = a ;p=1,x=,tier=b");
}

TEST(Baggage, a_member_that_breaks_the_grammar_is_left_out_alone) {
  for (const Bytes wrong : {"tenant", "=a", "ten ant=a", "tenant=a b", "tenant=\"a\"",
                            "tenant=a\\b", "tenant=\xc3\xa4", "tenant=a;", "tenant=a;;p",
                            "tenant=a;p q", "tenant=a;p=\"", "tenant=a;=1", "tenant=\x01"}) {
    EXPECT_TRUE(ignores(wrong)) << wrong;
    EXPECT_EQ(kept_baggage({wrong, "tier=b"}), "tier=b") << wrong;
  }
  for (const Bytes right :
       {"tenant=", "tenant=a=b", "tenant=!#$%&'()*+-./:<=>?@[]^_`{|}~", "tenant=a;p;q=1;r = 2"}) {
    EXPECT_FALSE(ignores(right)) << right;
    EXPECT_EQ(kept_baggage({right}), right);
  }
}

TEST(Baggage, a_member_without_room_is_left_out_whole) {
  const std::string half = "tenant=" + std::string(505, 'v');  // 512 bytes
  Baggage baggage(listed_keys);
  baggage.add(half);
  baggage.add("tier=" + std::string(507, 'v'));  // with its comma one byte too many
  EXPECT_TRUE(baggage.has_ignored());
  EXPECT_EQ(baggage.text(), half);
  baggage.add("tier=" + std::string(506, 'v'));
  EXPECT_EQ(baggage.text().size(), 1024u);
  baggage.add("x=");
  EXPECT_EQ(baggage.text().size(), 1024u);
}

TEST(Baggage, the_value_of_a_key_is_decoded_and_the_last_one_counts) {
  EXPECT_EQ(find_in_baggage("tenant=a%20b%2C;p=1", "tenant"), "a b,");
  EXPECT_EQ(find_in_baggage("tenant=a,tier=b,tenant=c", "tenant"), "c");
  EXPECT_EQ(find_in_baggage("tenant= a=b ;p", "tenant"), "a=b");
  EXPECT_EQ(find_in_baggage("tenant=a;x=1", "x"), std::nullopt) << "a property is no member";
  EXPECT_EQ(find_in_baggage("tenant=", "tenant"), "");
  EXPECT_EQ(find_in_baggage("", "tenant"), std::nullopt);
}

TEST(Baggage, what_is_no_percent_encoding_stays_and_what_is_no_utf8_is_replaced) {
  EXPECT_EQ(find_in_baggage("x=100%,tier=1", "x"), "100%");
  EXPECT_EQ(find_in_baggage("x=%4g%zz%4", "x"), "%4g%zz%4");
  EXPECT_EQ(find_in_baggage("x=%C3%A4%FF%c3", "x"), "\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
