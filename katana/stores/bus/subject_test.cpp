#include "katana/stores/bus/subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/stores/bus/subject_index.hpp"

namespace katana::bus {
namespace {

TEST(Subject, tokens_have_no_blanks_and_wildcards_stand_alone) {
  for (const Bytes good : {"a", "a.b", "rooms.lobby.said", "_INBOX.1", "a-b_c%20", "ä.ö"}) {
    EXPECT_TRUE(is_subject(good)) << good;
    EXPECT_TRUE(is_pattern(good)) << good;
  }
  for (const Bytes bad : {"", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0", "a.b\x7f",
                          "a*", "*a", "a.>b", ">.a", "a.>.b"}) {
    EXPECT_FALSE(is_subject(bad)) << bad;
    EXPECT_FALSE(is_pattern(bad)) << bad;
    EXPECT_FALSE(check_pattern(bad)) << bad;
  }
  for (const Bytes pattern : {"*", ">", "a.*", "*.a", "a.>", "*.*.>", "a.*.b"}) {
    EXPECT_FALSE(is_subject(pattern)) << pattern;
    EXPECT_TRUE(is_pattern(pattern)) << pattern;
  }
  EXPECT_FALSE(is_subject(Bytes("a\0b", 3)));
}

TEST(Subject, sizes_are_limited) {
  EXPECT_TRUE(is_subject(std::string(subject_bytes_max, 'a')));
  EXPECT_FALSE(is_subject(std::string(subject_bytes_max + 1, 'a')));
  std::string many = "a";
  for (std::size_t count = 1; count < subject_tokens_max; ++count) many += ".a";
  EXPECT_TRUE(is_subject(many));
  EXPECT_TRUE(check_subject(many));
  EXPECT_FALSE(is_subject(many + ".a"));
  EXPECT_FALSE(is_pattern(many + ".*"));
}

TEST(Subject, an_error_names_subject_and_remedy) {
  const auto checked = check_subject("rooms.*");
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().describe().find("'rooms.*'"), std::string::npos);
  EXPECT_NE(checked.error().describe().find("escape_token"), std::string::npos);
}

TEST(Subject, wildcards_stand_for_one_token_or_for_the_rest) {
  EXPECT_TRUE(matches("a.b", "a.b"));
  EXPECT_FALSE(matches("a.b", "a.b.c"));
  EXPECT_FALSE(matches("a.b.c", "a.b"));
  EXPECT_TRUE(matches("a.*", "a.b"));
  EXPECT_FALSE(matches("a.*", "a"));
  EXPECT_FALSE(matches("a.*", "a.b.c"));
  EXPECT_TRUE(matches("a.*.c", "a.b.c"));
  EXPECT_TRUE(matches("a.>", "a.b"));
  EXPECT_TRUE(matches("a.>", "a.b.c"));
  EXPECT_FALSE(matches("a.>", "a"));
  EXPECT_TRUE(matches(">", "a"));
  EXPECT_FALSE(matches(">", "_INBOX.1"));  // the bus's own
  EXPECT_FALSE(matches("*.API.x", "$JS.API.x"));
  EXPECT_TRUE(matches("_INBOX.*", "_INBOX.1"));
}

TEST(Subject, any_text_is_a_token_and_comes_back) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t size = random.below(12); size > 0; --size) {
      text += static_cast<char>(random.below(256));
    }
    const std::string token = escape_token(text);
    EXPECT_TRUE(is_subject(token)) << token;
    EXPECT_EQ(token.find('.'), std::string::npos);
    EXPECT_EQ(unescape_token(token), text);
  }
  for (const Bytes bad : {"a%", "a%2", "%zz", "%41", "a%2e", ""}) {
    EXPECT_FALSE(unescape_token(bad)) << bad;
  }
}

// The index finds the patterns that matches() accepts, whatever is added and removed.
TEST(SubjectIndex, finds_exactly_the_patterns_that_match) {
  Random random(7);
  const auto token = [&](bool wild) -> std::string {
    const std::uint64_t drawn = random.below(wild ? 6 : 4);
    if (drawn >= 4) return drawn == 4 ? "*" : ">";
    return drawn == 3 ? "_x" : std::string(1, static_cast<char>('a' + drawn));
  };
  const auto text = [&](bool wild) {
    std::string made = token(wild);
    for (std::uint64_t more = random.below(4); more > 0 && made.back() != '>'; --more) {
      made += "." + token(wild);
    }
    return made;
  };
  SubjectIndex<std::string> index;
  std::vector<std::string> patterns;
  for (int round = 0; round < 3000; ++round) {
    const std::string pattern = text(true);
    const auto known = std::ranges::find(patterns, pattern);
    EXPECT_EQ(index.find(pattern) != nullptr, known != patterns.end());
    if (known != patterns.end()) {
      index.remove(pattern);
      patterns.erase(known);
    } else {
      index.add(pattern, pattern);
      patterns.push_back(pattern);
    }
    EXPECT_EQ(index.size(), patterns.size());
    const std::string subject = text(false);
    std::vector<std::string> found;
    index.match(subject, [&](const std::string& each) { found.push_back(each); });
    std::vector<std::string> expected;
    std::ranges::copy_if(patterns, std::back_inserter(expected),
                         [&](const std::string& each) { return matches(each, subject); });
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected) << subject;
  }
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
