#include "katana/base/values/pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

bool fits(Bytes pattern, Bytes text) {
  EXPECT_TRUE(Pattern(pattern).valid()) << pattern;
  return Pattern(pattern).matches(text);
}

TEST(Pattern, describes_the_whole_text) {
  EXPECT_TRUE(fits("abc", "abc"));
  EXPECT_FALSE(fits("abc", "abcd"));
  EXPECT_FALSE(fits("abc", "xabc"));
  EXPECT_FALSE(fits("abc", "ab"));
  EXPECT_TRUE(fits("a*", ""));
}

TEST(Pattern, classes_name_the_characters_that_fit) {
  EXPECT_TRUE(fits("[a-cx_-]+", "abcx_-"));
  EXPECT_FALSE(fits("[a-c]", "d"));
  EXPECT_TRUE(fits("[^/]+", "a b"));
  EXPECT_FALSE(fits("[^/]+", "a/b"));
  EXPECT_TRUE(fits("\\d\\w\\s\\.", "7_\t."));
  EXPECT_FALSE(fits("\\d", "x"));
  EXPECT_FALSE(fits("\\.", "x"));
  EXPECT_TRUE(fits("[\\d\\]]+", "1]2"));
}

TEST(Pattern, counts_are_kept) {
  EXPECT_TRUE(fits("a?b", "b") && fits("a?b", "ab"));
  EXPECT_FALSE(fits("a?b", "aab"));
  EXPECT_TRUE(fits("a+b", "aaab"));
  EXPECT_FALSE(fits("a+b", "b"));
  EXPECT_TRUE(fits("x{3}", "xxx"));
  EXPECT_FALSE(fits("x{3}", "xx") || fits("x{3}", "xxxx"));
  EXPECT_TRUE(fits("x{2,}", "xx") && fits("x{2,}", "xxxxxxx"));
  EXPECT_FALSE(fits("x{2,}", "x"));
  EXPECT_TRUE(fits("x{1,3}", "x") && fits("x{1,3}", "xxx"));
  EXPECT_FALSE(fits("x{1,3}", "") || fits("x{1,3}", "xxxx"));
  EXPECT_TRUE(fits("a*ab", "aaab"));
  EXPECT_TRUE(fits("x{0}y", "y"));
}

TEST(Pattern, other_characters_fit_a_dot_and_a_negated_class_whole) {
  EXPECT_TRUE(fits("a.c",
                   "a\xe2\x82\xac"
                   "c"));
  EXPECT_TRUE(fits("[^x]{2}", "\xc3\xa9\xf0\x9f\x98\x80"));
  EXPECT_FALSE(fits("[a-z]", "\xc3\xa9"));
  EXPECT_FALSE(fits(".*", "\xff"));
}

TEST(Pattern, that_is_malformed_says_so_and_fits_nothing) {
  for (const Bytes pattern :
       {"(a)", "a|b", "[a",  "[]", "[z-a]", "a{", "a{x}", "a{3,1}",   "a{129}",  "*a",   "a**",
        "\\",  "\\b", "\\1", "^a", "a$",    "a}", "]",    "\xc3\xa9", "[a-\\d]", "a{1,2"}) {
    EXPECT_FALSE(Pattern(pattern).valid()) << pattern;
    EXPECT_FALSE(Pattern(pattern).matches("a")) << pattern;
  }
}

TEST(Pattern, takes_time_in_proportion_to_its_text) {
  // A matcher that goes back would try some 2^60 ways.
  std::string pattern;
  for (int count = 0; count < 60; ++count) pattern += "a?";
  for (int count = 0; count < 60; ++count) pattern += "a";
  EXPECT_TRUE(Pattern(pattern).matches(std::string(60, 'a')));
  EXPECT_FALSE(Pattern(pattern).matches(std::string(59, 'a')));
  EXPECT_FALSE(Pattern("a*a*a*a*a*b").matches(std::string(20'000, 'a')));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
