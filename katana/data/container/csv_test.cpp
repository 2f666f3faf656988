#include "katana/data/container/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/base/values/uuid.hpp"

namespace katana::container {

struct CsvProduct {
  std::int64_t id = 0;
  std::string name;
  std::optional<double> price;
  bool sold = false;
};
KATANA_DESCRIBE(CsvProduct, id, (name, length(1, 20)), price, sold)

namespace {

using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

// The rows of a text that arrives in pieces of `piece_bytes` bytes.
Rows rows_of(Bytes text, std::size_t piece_bytes = 1'000'000, CsvOptions options = {},
             std::string* problem = nullptr) {
  CsvReader reader(options);
  Rows rows;
  const auto take = [&] {
    while (const CsvRow* const row = reader.next()) {
      auto& to = rows.emplace_back();
      for (std::size_t index = 0; index < row->size(); ++index) to.push_back((*row)[index]);
    }
  };
  for (; !text.empty(); text.remove_prefix(std::min(piece_bytes, text.size()))) {
    reader.add(text.substr(0, piece_bytes));
    take();
  }
  reader.finish();
  take();
  if (problem != nullptr && !reader.problem()) *problem = reader.problem().error().describe();
  if (problem == nullptr) {
    EXPECT_TRUE(reader.problem()) << (reader.problem() ? "" : reader.problem().error().describe());
  }
  return rows;
}

TEST(Csv, rows_are_read_as_the_rfc_writes_them) {
  EXPECT_EQ(rows_of("aaa,bbb\r\nccc,ddd\r\n"), (Rows{{"aaa", "bbb"}, {"ccc", "ddd"}}));
  EXPECT_EQ(rows_of("aaa,bbb\nccc,ddd"), (Rows{{"aaa", "bbb"}, {"ccc", "ddd"}}));
  EXPECT_EQ(rows_of("\"a,\r\n\"\"b\"\"\",\"\"\r\n,\r\n"), (Rows{{"a,\r\n\"b\"", ""}, {"", ""}}));
  EXPECT_EQ(rows_of("\xef\xbb\xbfid\n7\n"), (Rows{{"id"}, {"7"}}));
  EXPECT_EQ(rows_of("\xef\xbbx\n"), (Rows{{"\xef\xbbx"}}));
  EXPECT_EQ(rows_of("a;b,c\n", 9, {.separator = ';'}), (Rows{{"a", "b,c"}}));
  EXPECT_EQ(rows_of("\n\n"), (Rows{{""}, {""}}));
  EXPECT_EQ(rows_of(""), Rows{});
}

TEST(Csv, pieces_may_be_cut_anywhere) {
  const Bytes text = "\xef\xbb\xbf\"a\"\"b\",c\r\nd,\"e\r\nf\"\r\n,\r\ng,h";
  const Rows whole = rows_of(text);
  EXPECT_EQ(whole.size(), 4u);
  for (std::size_t bytes = 1; bytes < text.size(); ++bytes) EXPECT_EQ(rows_of(text, bytes), whole);
}

TEST(Csv, what_is_no_csv_is_told_with_its_row_and_field) {
  const auto problem_of = [](Bytes text, CsvOptions options = {}) {
    std::string problem;
    (void)rows_of(text, 3, options, &problem);
    return problem;
  };
  EXPECT_EQ(problem_of("a,b\nc,d\"e\n"),
            "row 2, field 2: a quote within a field that has none at its beginning");
  EXPECT_EQ(problem_of("\"a\"b\n"), "row 1, field 1: text behind a closing quote");
  EXPECT_EQ(problem_of("a\n\"b\n"), "row 2, field 1: the end of the text is within quotes");
  EXPECT_EQ(problem_of("a,b\nc\n"),
            "row 2, field 1: the row has 1 fields, and the first one has 2");
  EXPECT_EQ(problem_of("a\rb\n"),
            "row 1, field 1: a CR without LF; a field with line ends stands in quotes");
  EXPECT_EQ(problem_of("abcdef\n", {.row_bytes_max = 5}),
            "row 1, field 1: the row has more than 5 bytes");
  EXPECT_EQ(problem_of("a,b,c\n", {.columns_max = 2}), "row 1, field 2: more than 2 fields");
  EXPECT_EQ(problem_of("a,b\nc\n", {.same_columns = false}), "");
}

TEST(Csv, a_field_that_begins_or_ends_with_a_space_is_quoted) {
  for (const Bytes field : {" a", "a ", " "}) {
    std::string text;
    append_csv_field(text, field);
    EXPECT_EQ(text, "\"" + std::string(field) + "\"");
  }
  std::string text;
  append_csv_field(text, "a b");
  EXPECT_EQ(text, "a b");
}

TEST(Csv, fields_of_any_text_are_written_and_read_back) {
  Random random(5);
  constexpr Bytes letters = "ab,\"\r\n ;";
  for (int round = 0; round < 2000; ++round) {
    Rows rows(1 + random.below(3));
    std::string text;
    const std::size_t columns = 1 + random.below(3);
    for (auto& row : rows) {
      for (std::size_t column = 0; column < columns; ++column) {
        std::string& field = row.emplace_back();
        for (std::size_t left = random.below(6); left > 0; --left) {
          field += letters[random.below(letters.size())];
        }
        if (column > 0) text += ',';
        append_csv_field(text, field);
      }
      text += "\r\n";
    }
    ASSERT_EQ(rows_of(text, 1 + random.below(9)), rows) << text;
  }
}

TEST(Csv, described_structs_are_rows_by_the_names_of_the_header) {
  std::string text;
  append_csv_header<CsvProduct>(text);
  append_csv_row(text, CsvProduct{7, "tea, \"green\"", 2.5, true});
  append_csv_row(text, CsvProduct{8, "cup", {}, false});
  EXPECT_EQ(text, "id,name,price,sold\r\n7,\"tea, \"\"green\"\"\",2.5,true\r\n8,cup,,false\r\n");
  CsvReader reader({.has_header = true});
  reader.add("name,colour,id,price\ntea,green,7,2.5\ncup,blue,8,\n,red,9,1\nx,y,z,1\n");
  const auto first = read_row<CsvProduct>(reader, *reader.next());
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(first->id, 7);
  EXPECT_EQ(first->price, 2.5);
  const auto second = read_row<CsvProduct>(reader, *reader.next());
  ASSERT_TRUE(second) << second.error().describe();
  EXPECT_EQ(second->price, std::nullopt);
  const auto third = read_row<CsvProduct>(reader, *reader.next());
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().describe(), HasSubstr("row 4: /name"));
  const auto fourth = read_row<CsvProduct>(reader, *reader.next());
  ASSERT_FALSE(fourth);
  EXPECT_THAT(fourth.error().describe(), HasSubstr("/id"));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
