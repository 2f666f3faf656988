// Texts that need no escaping, compared with a check of each byte.
#include "katana/observe/log/escape.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::log {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// Every byte at every place of texts of every length up to two words and a half.
TEST(Escape, what_is_plain_and_what_is_a_word_is_seen_at_every_place) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int octet = 0; octet < 256; ++octet) {
        const char c = static_cast<char>(octet);
        std::string text(size, '~');
        text[place] = c;
        ASSERT_EQ(plain_prefix(text), is_plain(c) ? size : place) << size << ' ' << octet;
        ASSERT_EQ(is_word(text), is_plain(c) && c != ' ' && c != '=') << size << ' ' << octet;
      }
    }
  }
}

TEST(Escape, nothing_is_plain_and_no_word) {
  EXPECT_EQ(plain_prefix(""), 0u);
  EXPECT_FALSE(is_word(""));
}

// Two bytes that are not plain: an error in the carries of a word's arithmetic would show.
TEST(Escape, the_first_of_several_ends_the_prefix) {
  for (std::size_t first = 0; first < 12; ++first) {
    for (std::size_t second = first + 1; second < 13; ++second) {
      std::string text(13, 'a');
      text[first] = '"';
      text[second] = '\n';
      EXPECT_EQ(plain_prefix(text), first);
      EXPECT_FALSE(is_word(text));
    }
  }
}

std::string line_of(Bytes text) {
  Buffer out;
  escape_line(text, out);
  return {out.data(), out.size()};
}

TEST(Escape, what_cannot_be_seen_is_written_as_its_number) {
  EXPECT_EQ(line_of("a\u202eb"), "a\\u{202e}b");
  EXPECT_EQ(line_of("\u00ad\u061c\u200b\u200d\u200f"),
            "\\u{00ad}\\u{061c}\\u{200b}\\u{200d}\\u{200f}");
  EXPECT_EQ(line_of("\u2028\u2029"), "\\u{2028}\\u{2029}");
  EXPECT_EQ(line_of("\u2066\u2069\ufeff"), "\\u{2066}\\u{2069}\\u{feff}");
  EXPECT_EQ(line_of("\U000e0041"), "\\u{e0041}");
  EXPECT_EQ(line_of("\u0085"), "\\xc2\\x85");
}

TEST(Escape, letters_of_all_scripts_and_signs_stay) {
  for (const Bytes text : {Bytes("Ærøskøbing"), Bytes("Ελλάδα"), Bytes("עברית"), Bytes("العربية"),
                           Bytes("日本語"), Bytes("\u0600"), Bytes("\u200a"), Bytes("\u2027"),
                           Bytes("\u202f"), Bytes("\u205f"), Bytes("\u2070"), Bytes("\ufffd"),
                           Bytes("\U0001f600"), Bytes("\U0001d172"), Bytes("\U0010ffff")}) {
    EXPECT_EQ(line_of(text), text);
  }
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
