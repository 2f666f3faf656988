#include "katana/data/container/json_items.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace katana::container {
namespace {

using Form = JsonItems::Form;

// The items, one a line, and the error behind them; the text comes in pieces of `piece` bytes.
std::string items_of(Form form, Bytes text, std::size_t piece = SIZE_MAX, std::size_t max = 64) {
  JsonItems items(form, max);
  std::string all;
  while (true) {
    const auto item = items.next();
    if (!item) return all + "! " + item.error().describe();
    if (*item) {
      all.append(**item).append("\n");
    } else if (items.done()) {
      return all;
    } else if (text.empty()) {
      items.end();
    } else {
      items.append(text.substr(0, piece));
      text.remove_prefix(std::min(piece, text.size()));
    }
  }
}

struct Case {
  Form form;
  std::string text;
  std::string items;
};
const std::vector<Case> cases = {
    {Form::array, "[]", ""},
    {Form::array, " [ \n] ", ""},
    {Form::array, R"([1,"a",{"b":[1,"]}"]},[],null])", "1\n\"a\"\n{\"b\":[1,\"]}\"]}\n[]\nnull\n"},
    {Form::array, R"([ "\"," , "\\" ] )", "\"\\\",\" \n\"\\\\\" \n"},
    {Form::array, "[{]},2]", "{]\n! /0: expected a comma behind it"},
    {Form::array, "", "! expected an array, and the content ends before it does"},
    {Form::array, "{}", "! expected an array"},
    {Form::array, "[1,2", "1\n! /1: the content ends within it"},
    {Form::array, "[1,", "1\n! expected an array, and the content ends before it does"},
    {Form::array, "[1,]", "1\n! /1: expected a value"},
    {Form::array, "[,1]", "! /0: expected a value"},
    {Form::array, "[1] x", "1\n! something follows the array"},
    {Form::array, "[\"abc", "! /0: the content ends within it"},
    {Form::lines, "", ""},
    {Form::lines, "1\n\n {\"a\":2} \r\n\r\n", "1\n {\"a\":2} \n"},
    {Form::lines, "1\n2", "1\n2\n"},
    {Form::lines, "not json\n[\n", "not json\n[\n"},
};

TEST(JsonItems, are_the_same_however_the_text_is_cut) {
  for (const Case& each : cases) {
    for (std::size_t piece = 1; piece <= each.text.size() + 1; ++piece) {
      EXPECT_EQ(items_of(each.form, each.text, piece), each.items) << each.text << " by " << piece;
    }
  }
}

TEST(JsonItems, one_that_is_too_long_is_refused_by_its_place) {
  const std::string long_text = "\"" + std::string(70, 'x') + "\"";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{20}, SIZE_MAX}) {
    EXPECT_EQ(items_of(Form::array, "[1," + long_text + "]", piece),
              "1\n! /1: is longer than 64 bytes");
    EXPECT_EQ(items_of(Form::lines, "1\n\n" + long_text + "\n", piece),
              "1\n! line 3: is longer than 64 bytes");
  }
  EXPECT_EQ(items_of(Form::array, "[" + std::string(64, '1') + "]"), std::string(64, '1') + "\n");
}

TEST(JsonItems, their_places_are_those_of_the_input) {
  JsonItems array(Form::array);
  array.append("[7,8]");
  ASSERT_TRUE(array.next() && array.next());
  EXPECT_EQ(array.place(), "/1");
  JsonItems lines(Form::lines);
  lines.append("7\n\n8\n");
  ASSERT_TRUE(lines.next() && lines.next());
  EXPECT_EQ(lines.place(), "line 3");
  EXPECT_EQ(lines.count(), 2u) << "an empty line is no item";
}

TEST(JsonItems, what_was_given_is_not_kept) {
  JsonItems items(Form::lines, 1000);
  for (int round = 0; round < 10'000; ++round) {
    items.append("{\"number\":1234567890}\n{\"numb");
    ASSERT_TRUE(items.next()->has_value());
    items.append("er\":1}\n");
    ASSERT_TRUE(items.next()->has_value());
    ASSERT_LT(items.held_bytes(), 1024u);
  }
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
