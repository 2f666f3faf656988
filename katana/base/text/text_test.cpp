#include "katana/base/text/text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace katana {
namespace {

TEST(Text, a_new_text_is_empty_and_has_no_memory) {
  const Text text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.bytes(), "");
  EXPECT_EQ(text.data(), nullptr);
}

TEST(Text, keeps_a_copy_of_what_it_is_made_from) {
  std::string source = "hello";
  const Text text(source);
  source = "other";
  EXPECT_EQ(text.bytes(), "hello");
}

TEST(Text, appends_like_a_string_over_any_history) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    Text text;
    std::string expected;
    for (int step = 0; step < 200; ++step) {
      const std::string piece(random() % 90, static_cast<char>('a' + random() % 26));
      switch (random() % 5) {
        case 0:
          text.push_back('!');
          expected.push_back('!');
          break;
        case 1: {
          const std::size_t cut = random() % (expected.size() + 1);
          text.resize(cut);
          expected.resize(cut);
          break;
        }
        case 2: text.grow_to(random() % 5000); break;
        default: text.append(piece); expected += piece;
      }
      ASSERT_EQ(text.bytes(), expected);
    }
  }
}

TEST(Text, appends_a_part_of_itself_even_when_it_has_to_grow) {
  Text text("0123456789");
  for (int count = 0; count < 5; ++count) text.append(text.bytes());
  EXPECT_EQ(text.size(), 320u);
  for (std::size_t at = 0; at < text.size(); ++at) {
    ASSERT_EQ(text.data()[at], static_cast<char>('0' + at % 10));
  }
}

TEST(Text, growing_by_resize_keeps_what_is_there_and_is_written_through_data) {
  Text text("ab");
  text.resize(300);
  text.data()[299] = 'z';
  EXPECT_EQ(text.bytes().substr(0, 2), "ab");
  EXPECT_EQ(text.bytes().back(), 'z');
}

TEST(Text, clear_keeps_the_memory_for_what_comes_next) {
  Text text(std::string(1000, 'x'));
  const char* const memory = text.data();
  text.clear();
  EXPECT_TRUE(text.empty());
  text.append(std::string(1000, 'y'));
  EXPECT_EQ(text.data(), memory);
}

TEST(Text, moving_takes_the_memory_and_leaves_an_empty_text) {
  Text from("moved");
  const char* const memory = from.data();
  Text to(std::move(from));
  EXPECT_EQ(to.data(), memory);
  EXPECT_TRUE(from.empty());  // NOLINT: what a moved-from text is, is what this asks
  from.append("again");
  EXPECT_EQ(from.bytes(), "again");
  EXPECT_EQ(to.bytes(), "moved");
}

TEST(Text, move_assignment_gives_the_old_memory_back) {
  Text text("old");
  text = Text("new");
  EXPECT_EQ(text.bytes(), "new");
  Text& same = text;
  text = std::move(same);
  EXPECT_EQ(text.bytes(), "new");
}

TEST(Text, holds_any_octets) {
  const std::string octets("\0\r\n\xff", 4);
  EXPECT_EQ(Text(octets).bytes(), octets);
}

TEST(Text, formats_as_fmt_does) {
  EXPECT_EQ(format_text("{}-{:04x}-{}", 42, 0xbeef, "text").bytes(), "42-beef-text");
  EXPECT_EQ(format_text("nothing").bytes(), "nothing");
  EXPECT_EQ(format_text("{}", std::string(5000, 'x')).size(), 5000u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
