#include "katana/base/text/columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana {
namespace {

TEST(Columns, of_a_text_are_its_code_points) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("flag…"), 5u);
  EXPECT_EQ(columns_of("größer"), 6u);
}

TEST(Wrapped, lines_are_as_long_as_they_may_be_and_no_longer) {
  EXPECT_EQ(wrapped("one two three", 0, 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 0, 6), "one\ntwo\nthree");
  EXPECT_EQ(wrapped("one two three", 0, 13), "one two three");
}

TEST(Wrapped, later_lines_are_indented_and_the_first_begins_at_the_indent) {
  EXPECT_EQ(wrapped("one two three", 4, 11), "one two\n    three");
  EXPECT_EQ(wrapped("one two three", 4, 10), "one\n    two\n    three");
}

TEST(Wrapped, a_word_that_is_too_long_stands_alone_and_whole) {
  EXPECT_EQ(wrapped("a /very/long/path b", 0, 6), "a\n/very/long/path\nb");
  EXPECT_EQ(wrapped("", 3), "");
  EXPECT_EQ(wrapped("  spaced   out ", 0, 20), "spaced out");
}

TEST(HelpTable, meanings_begin_at_one_column) {
  const std::vector<HelpRow> rows = {{"--port PORT", "listen there"}, {"--help", "print this"}};
  EXPECT_EQ(help_table(rows), "  --port PORT  listen there\n  --help       print this\n");
}

TEST(HelpTable, a_wide_name_has_a_line_for_itself_and_moves_no_other_row) {
  const std::vector<HelpRow> rows = {
      {"--a", "first"}, {"--name-of-more-than-26-columns N", "second"}, {"--bare", ""}};
  EXPECT_EQ(help_table(rows),
            "  --a     first\n"
            "  --name-of-more-than-26-columns N\n"
            "          second\n"
            "  --bare\n");
}

TEST(HelpTable, no_line_is_wider_than_a_terminal) {
  const std::string words =
      "a sentence that is a good deal longer than what a line of eighty columns can hold, "
      "so that it is continued below its beginning";
  const std::vector<HelpRow> rows = {{"--long", words}};
  const std::string table = help_table(rows);
  std::size_t begin = 0;
  std::size_t lines = 0;
  while (begin < table.size()) {
    const std::size_t end = table.find('\n', begin);
    EXPECT_LE(columns_of(table.substr(begin, end - begin)), terminal_columns);
    begin = end + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 2u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
