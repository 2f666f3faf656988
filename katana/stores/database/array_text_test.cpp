#include "katana/stores/database/array_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::database {
namespace {

// The elements that a reader finds, in one line: "i7 s'text' null [1] end".
std::string elements_of(Bytes text) {
  using Kind = ArrayReader::Kind;
  ArrayReader reader(text);
  std::string found;
  for (int count = 0; count < 100; ++count) {
    const ArrayReader::Element element = reader.next();
    switch (element.kind) {
      case Kind::null: found += "null "; break;
      case Kind::boolean: found += element.integer != 0 ? "true " : "false "; break;
      case Kind::integer: found += fmt::format("i{} ", element.integer); break;
      case Kind::real: found += fmt::format("r{} ", element.real); break;
      case Kind::text: found += fmt::format("s'{}' ", element.text); break;
      case Kind::object:
      case Kind::array: found += fmt::format("{} ", element.text); break;
      case Kind::end: return found + "end";
      case Kind::broken: return found + "broken";
    }
  }
  return found;
}

TEST(ArrayText, escapes_are_four_digits_and_halves_of_pairs_come_in_pairs) {
  const auto text_of = [](const std::string& escapes) {
    return elements_of("[\"" + escapes + "\"]");
  };
  EXPECT_EQ(text_of("\\u007f\\u0080\\u07ff\\u0800"), "s'\x7f\u0080\u07ff\u0800' end");
  EXPECT_EQ(text_of("\\ud7ff\\ue000\\uffff"), "s'\ud7ff\ue000\uffff' end");
  EXPECT_EQ(text_of("\\ud800\\udc00\\udbff\\udfff"), "s'\U00010000\U0010ffff' end");
  EXPECT_EQ(text_of("\\u00414"), "s'A4' end") << "a fifth digit is text";
  for (const char* const wrong :
       {"\\ud800", "\\udbff", "\\udc00", "\\udfff", "\\ud800x", "\\ud800\\u0041", "\\ud800\\ud800",
        "\\ud800\\udbff", "\\udc00\\udc00", "\\udfff\\udc00", "\\ud800\\ue000", "\\ud800\\u", "\\u",
        "\\u12", "\\u123", "\\u12g4", "\\ug123", "\\u+123", "\\u-123"}) {
    EXPECT_EQ(text_of(wrong), "broken") << wrong;
  }
}

TEST(ArrayText, a_list_within_is_a_list_and_an_object_an_object) {
  ArrayReader reader(R"([[1], {"a": 2}])");
  EXPECT_EQ(reader.next().kind, ArrayReader::Kind::array);
  EXPECT_EQ(reader.next().kind, ArrayReader::Kind::object);
  EXPECT_EQ(reader.next().kind, ArrayReader::Kind::end);
}

TEST(ArrayText, elements_are_numbers_words_strings_and_arrays) {
  EXPECT_EQ(elements_of("[]"), "end");
  EXPECT_EQ(elements_of(" [ 1 , -2.5e1,null ,true,false, \"a\" ,[\"]\",[2]] ] "),
            "i1 r-25 null true false s'a' [\"]\",[2]] end");
  EXPECT_EQ(elements_of(R"(["\"\\\/\b\f\n\r\t\u00fc\ud83d\ude00"])"),
            "s'\"\\/\b\f\n\r\t\u00fc\U0001f600' end");
}

TEST(ArrayText, what_is_no_array_is_broken_where_it_is) {
  EXPECT_EQ(elements_of(""), "broken");
  EXPECT_EQ(elements_of("1"), "broken");
  EXPECT_EQ(elements_of("[1"), "i1 broken");
  EXPECT_EQ(elements_of("[1,]"), "i1 broken");
  EXPECT_EQ(elements_of("[,1]"), "broken");
  EXPECT_EQ(elements_of("[1 2]"), "i1 broken");
  EXPECT_EQ(elements_of("[1]]"), "i1 broken");
  EXPECT_EQ(elements_of("[nul]"), "broken");
  EXPECT_EQ(elements_of("[\"a]"), "broken");
  EXPECT_EQ(elements_of("[\"\\x\"]"), "broken");
  EXPECT_EQ(elements_of("[\"\\ud83d\"]"), "broken");
  EXPECT_EQ(elements_of("[\"\\udc00\"]"), "broken");
  EXPECT_EQ(elements_of("[[1]"), "[1] broken");
  EXPECT_EQ(elements_of("[\"\\u12"), "broken");
  EXPECT_EQ(elements_of("[\"\\u1234"), "broken");
}

TEST(ArrayText, brackets_in_a_string_are_no_brackets_of_the_list) {
  EXPECT_EQ(elements_of(R"([["a\\"], ["b\"]"]])"), R"(["a\\"] ["b\"]"] end)");
}

TEST(ArrayText, what_was_written_is_read_as_it_was) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  const std::vector<std::string> texts = {all, "", "ü"};
  const std::string text = array_text(texts);
  ArrayReader again(text);
  for (const std::string& each : texts) EXPECT_EQ(again.next().text, each);
  EXPECT_EQ(again.next().kind, ArrayReader::Kind::end);
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
