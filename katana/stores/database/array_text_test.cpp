#include "katana/stores/database/array_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::database {
namespace {

// What a reader finds, in one line: "i7 s'text' null [1] end".
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
