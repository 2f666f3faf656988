#include "katana/wire/http/field_list.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace katana::http {
namespace {

using Elements = std::vector<std::string>;

Elements elements_of(Bytes value) {
  Elements elements;
  ListReader reader(value);
  for (Bytes element; reader.next(element);) elements.emplace_back(element);
  return elements;
}

TEST(FieldList, elements_are_separated_by_commas_and_trimmed) {
  EXPECT_EQ(elements_of("gzip"), (Elements{"gzip"}));
  EXPECT_EQ(elements_of("a,b,c"), (Elements{"a", "b", "c"}));
  EXPECT_EQ(elements_of(" \ta\t , \t b c ,d "), (Elements{"a", "b c", "d"}));
}

TEST(FieldList, empty_elements_are_skipped) {
  EXPECT_EQ(elements_of(""), Elements{});
  EXPECT_EQ(elements_of(" , ,\t,"), Elements{});
  EXPECT_EQ(elements_of(",a,,b,"), (Elements{"a", "b"}));
}

TEST(FieldList, a_quoted_comma_belongs_to_its_element) {
  EXPECT_EQ(elements_of(R"(a="1,2", b)"), (Elements{R"(a="1,2")", "b"}));
  EXPECT_EQ(elements_of(R"("," , ",")"), (Elements{R"(",")", R"(",")"}));
  EXPECT_EQ(elements_of(R"("", b)"), (Elements{R"("")", "b"}));
}

TEST(FieldList, a_quoted_pair_does_not_close_the_quotes) {
  EXPECT_EQ(elements_of(R"(a="\",", b)"), (Elements{R"(a="\",")", "b"}));
  EXPECT_EQ(elements_of(R"(a="\\", b)"), (Elements{R"(a="\\")", "b"}));
}

TEST(FieldList, a_backslash_outside_quotes_is_a_character) {
  EXPECT_EQ(elements_of(R"(a\,b)"), (Elements{R"(a\)", "b"}));
}

TEST(FieldList, open_quotes_last_until_the_end) {
  EXPECT_EQ(elements_of(R"(a="1, b)"), (Elements{R"(a="1, b)"}));
  EXPECT_EQ(elements_of(R"(a="1\)"), (Elements{R"(a="1\)"}));
}

TEST(FieldList, a_finished_reader_stays_finished_and_changes_nothing) {
  ListReader reader("a");
  Bytes element;
  EXPECT_TRUE(reader.next(element));
  EXPECT_FALSE(reader.next(element));
  EXPECT_FALSE(reader.next(element));
  EXPECT_EQ(element, "a");
}

TEST(FieldList, a_token_is_found_ignoring_case_and_as_a_whole) {
  EXPECT_TRUE(list_contains_token("close", "close"));
  EXPECT_TRUE(list_contains_token("keep-alive, Upgrade", "upgrade"));
  EXPECT_FALSE(list_contains_token("keep-alive", "alive"));
  EXPECT_FALSE(list_contains_token("close;x", "close"));
  EXPECT_FALSE(list_contains_token("\"close\"", "close"));
  EXPECT_FALSE(list_contains_token("a=\"x, close\"", "close"));
  EXPECT_FALSE(list_contains_token("", ""));
}

TEST(FieldList, elements_of_random_values_are_trimmed_in_order_and_not_empty) {
  std::mt19937 random(1);
  for (int round = 0; round < 200'000; ++round) {
    std::string value;
    for (auto size = random() % 12; size > 0; --size) value += Bytes(", \t\"\\ab").at(random() % 7);
    std::string rest = value;
    for (const std::string& element : elements_of(value)) {
      ASSERT_NE(element, "");
      ASSERT_EQ(element.find_first_not_of(" \t,"), 0U) << value;
      const std::size_t at = rest.find(element);
      ASSERT_NE(at, std::string::npos) << value;
      ASSERT_EQ(rest.substr(0, at).find_first_not_of(" \t,"), std::string::npos) << value;
      ASSERT_TRUE(element.back() != ' ' && element.back() != '\t') << value;
      rest.erase(0, at + element.size());
    }
    ASSERT_EQ(rest.find_first_not_of(" \t,"), std::string::npos) << value;
  }
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
