#include "katana/data/config/scalar.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace katana::config {
namespace {

Node text_node(std::string text) {
  Node node;
  node.kind = Node::Kind::text;
  node.text = std::move(text);
  return node;
}

template <class T>
std::optional<T> value_of(std::string text) {
  T value{};
  if (!read_scalar(text_node(std::move(text)), value).empty()) return std::nullopt;
  return value;
}

detail::Digits digits_of(Bytes text) {
  bool negative = false;
  std::uint64_t magnitude = 0;
  return detail::read_digits(text, negative, magnitude);
}

TEST(Scalar, a_number_with_anything_around_it_is_none) {
  for (const char* const text : {"12abc", "12 ", " 12", "12.0", "1e3", "1_000", "0x12g", "0o18",
                                 "0x", "0o", "", "-", "+", "--5", "+-5", "-+5", "0b1", "abc"}) {
    EXPECT_EQ(value_of<int>(text), std::nullopt) << text;
    EXPECT_EQ(digits_of(text), detail::Digits::none) << text;
  }
}

TEST(Scalar, a_sign_is_the_numbers_own) {
  EXPECT_EQ(value_of<int>("5"), 5);
  EXPECT_EQ(value_of<int>("+5"), 5);
  EXPECT_EQ(value_of<int>("-5"), -5);
  EXPECT_EQ(value_of<int>("+0x10"), 16);
  EXPECT_EQ(value_of<int>("-0o17"), -15);
  EXPECT_EQ(value_of<double>("+2.5"), 2.5);
  EXPECT_EQ(value_of<double>("-2.5"), -2.5);
  EXPECT_EQ(value_of<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(value_of<unsigned>("-0"), 0u);
}

TEST(Scalar, a_number_that_begins_with_zero_is_read_in_no_base) {
  EXPECT_EQ(value_of<int>("0"), 0);
  EXPECT_EQ(value_of<int>("010"), std::nullopt);
  EXPECT_EQ(value_of<int>("-010"), std::nullopt);
  EXPECT_EQ(value_of<int>("00"), std::nullopt);
}

TEST(Scalar, a_number_beyond_64_bits_is_too_large_and_not_none) {
  EXPECT_EQ(digits_of("18446744073709551615"), detail::Digits::read);
  EXPECT_EQ(digits_of("18446744073709551616"), detail::Digits::too_large);
  EXPECT_EQ(digits_of("-18446744073709551616"), detail::Digits::too_large);
  EXPECT_EQ(digits_of("0x10000000000000000"), detail::Digits::too_large);
}

template <class T>
class ScalarBounds : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                  std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ScalarBounds, Integers);

TYPED_TEST(ScalarBounds, a_number_is_read_up_to_the_bounds_of_its_type) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::string least = std::to_string(Limits::min()), most = std::to_string(Limits::max());
  EXPECT_EQ(value_of<TypeParam>(least), Limits::min());
  EXPECT_EQ(value_of<TypeParam>(most), Limits::max());
  // One more in the last digit, which is never a 9.
  std::string above = most, below = least == "0" ? "-0" : least;
  ++above.back();
  ++below.back();
  EXPECT_EQ(value_of<TypeParam>(above), std::nullopt) << above;
  EXPECT_EQ(value_of<TypeParam>(below), std::nullopt) << below;
  for (const TypeParam value : {Limits::min(), Limits::max()}) {
    EXPECT_EQ(value_of<TypeParam>(write_scalar(value)), value);
  }
}

TEST(Scalar, a_number_with_a_fraction_is_finite_and_whole) {
  EXPECT_EQ(value_of<double>("1e3"), 1000.0);
  for (const char* const text : {"inf", "nan", "-inf", "1e999", "1.5x", "1.5 ", ""}) {
    EXPECT_EQ(value_of<double>(text), std::nullopt) << text;
  }
}

TEST(Scalar, true_and_false_have_one_spelling) {
  EXPECT_EQ(value_of<bool>("true"), true);
  EXPECT_EQ(value_of<bool>("false"), false);
  for (const char* const text : {"True", "yes", "1", "truex", ""}) {
    EXPECT_EQ(value_of<bool>(text), std::nullopt) << text;
  }
}

TEST(Scalar, text_in_quotes_is_no_number_and_no_truth) {
  Node node = text_node("5");
  node.quoted = true;
  int number = 1;
  EXPECT_EQ(read_scalar(node, number),
            scalar_words<int>() + ", got the text '5': leave out the quotes");
  EXPECT_EQ(number, 1);
  std::string text;
  EXPECT_EQ(read_scalar(node, text), "");
  EXPECT_EQ(text, "5");
}

TEST(Scalar, what_is_no_text_is_no_scalar) {
  std::string text;
  EXPECT_EQ(read_scalar(Node(), text), "text, got nothing: give it a value, or remove the key");
  Node list;
  list.kind = Node::Kind::list;
  EXPECT_EQ(read_scalar(list, text), "text, got a list");
}

TEST(Scalar, a_message_shows_64_bytes_at_most) {
  bool value = false;
  const std::string longest(64, 'a');
  EXPECT_EQ(read_scalar(text_node(longest), value), "true or false, got '" + longest + "'");
  EXPECT_EQ(read_scalar(text_node(longest + "a"), value), "true or false, got text of 65 bytes");
}

TEST(Scalar, text_is_quoted_where_a_reader_of_YAML_could_take_it_for_something_else) {
  for (const char* const plain : {"abc", "/var/lib", "_x", "a.b@c-d+e", "Z9"}) {
    EXPECT_EQ(quoted_if_needed(plain), plain);
  }
  for (const char* const other :
       {"",   "null", "true", "false", "yes", "no",  "on",  "off", "Null", "NULL", "~", "5", "-a",
        "+a", ".a",   "@a",   "a b",   "a:",  "a#b", "a,b", "[a",  "{a",   "`a",   "[", "{"}) {
    EXPECT_EQ(quoted_if_needed(other), '"' + std::string(other) + '"');
  }
}

TEST(Scalar, quotes_backslashes_and_control_characters_are_escaped) {
  EXPECT_EQ(quoted_if_needed(R"(a"b)"), R"("a\"b")");
  EXPECT_EQ(quoted_if_needed(R"(C:\tmp)"), R"("C:\\tmp")");
  EXPECT_EQ(quoted_if_needed(Bytes("a\nb\x7f\0\x1f c", 8)), R"("a\x0ab\x7f\x00\x1f c")");
  EXPECT_EQ(quoted_if_needed("\xc3\xa4"), "\"\xc3\xa4\"");
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
