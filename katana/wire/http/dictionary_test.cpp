#include "katana/wire/http/dictionary.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::http {
namespace {

// The members as "key=value; "; "malformed" if the field is to be ignored.
std::string members_of(Bytes value) {
  DictionaryReader members(value);
  std::string text;
  for (DictionaryMember member; members.next(member);) {
    text += std::string(member.key) + "=";
    text += member.is_integer()   ? std::to_string(member.integer)
            : member.is_boolean() ? (member.boolean ? "?1" : "?0")
                                  : "other";
    text += "; ";
  }
  return members.is_malformed() ? "malformed" : text;
}

TEST(Dictionary, members_have_their_keys_and_types) {
  EXPECT_EQ(members_of("max-age=60, no-store, private=?0"),
            "max-age=60; no-store=?1; private=?0; ");
  EXPECT_EQ(members_of("  a=-5\t,\tb=1.25 "), "a=-5; b=other; ");
  EXPECT_EQ(members_of("a=\"x, \\\"y\\\"\", b=tok/en:1, c=:aGk=:, d=@-1, e=%\"f%c3%bc\", *f"),
            "a=other; b=other; c=other; d=other; e=other; *f=?1; ");
  EXPECT_EQ(members_of("a=(1 2 \"three\";q=1), b=()"), "a=other; b=other; ");
  EXPECT_EQ(members_of("a=999999999999999"), "a=999999999999999; ");
  EXPECT_EQ(members_of(""), "");
  EXPECT_EQ(members_of("   "), "");
}

TEST(Dictionary, parameters_are_read_and_left_out) {
  EXPECT_EQ(members_of("max-age=60;x=1; y;z=\"a;b\", b;c"), "max-age=60; b=?1; ");
}

TEST(Dictionary, a_mistake_anywhere_makes_the_whole_field_malformed) {
  for (const char* const wrong : {"max-age=60, &&&",
                                  "Max-Age=60",
                                  "max-age =60",
                                  "max-age= 60",
                                  "max-age=",
                                  "a,",
                                  ",a",
                                  "a,,b",
                                  "a b",
                                  "a=1000000000000000",
                                  "a=1.",
                                  "a=1.2345",
                                  "a=1234567890123.5",
                                  "a=--1",
                                  "a=-",
                                  "a=?2",
                                  "a=\"x",
                                  "a=\"\\x\"",
                                  "a=\"\x7f\"",
                                  "a=:x",
                                  "a=@1.5",
                                  "a=%\"%C3\"",
                                  "a=%x",
                                  "a=(1",
                                  "a=(1\"x\")",
                                  "a;=1",
                                  "a;B",
                                  "a;x=",
                                  "=1",
                                  "\ta",
                                  "a=\xc3\xbc"}) {
    EXPECT_EQ(members_of(wrong), "malformed") << wrong;
  }
}

TEST(Dictionary, behind_a_mistake_nothing_is_read) {
  DictionaryReader members("a=1, b=!, c=2");
  DictionaryMember member;
  EXPECT_TRUE(members.next(member));
  EXPECT_FALSE(members.next(member));
  EXPECT_FALSE(members.next(member));
  EXPECT_TRUE(members.is_malformed());
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
