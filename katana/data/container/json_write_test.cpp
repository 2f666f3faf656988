#include "katana/data/container/json_write.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "katana/data/container/shapes_test.hpp"

namespace katana::container {
namespace {

// The same through each destination, in windows of every size that pools allow.
template <class T>
std::string written(const T& value) {
  const std::string text = to_json(value);
  Text recycled;
  write_json(value, recycled);
  EXPECT_EQ(recycled.bytes(), text);
  for (const std::size_t block_bytes : {64u, 256u, 4096u}) {
    EXPECT_EQ(through_outbox(value, block_bytes), text) << block_bytes;
  }
  return text;
}

TEST(JsonWrite, a_struct_is_an_object_in_the_order_of_its_description) {
  EXPECT_EQ(written(some_user()),
            R"({"id":7,"name":"Ada","email":"ada@example.org","age":36,"active":true})");
}

TEST(JsonWrite, an_empty_optional_is_null) {
  User user = some_user();
  user.age = std::nullopt;
  EXPECT_EQ(written(user),
            R"({"id":7,"name":"Ada","email":"ada@example.org","age":null,"active":true})");
}

TEST(JsonWrite, lists_dictionaries_enums_and_structs_nest) {
  EXPECT_EQ(
      written(some_order()),
      R"({"number":18446744073709551615,"state":"sent off","lines":[{"item":"tea","price":2.5},)"
      R"({"item":"\"jam\"","price":-0.0}],"tags":{"a/b":1,"z":-2},"notes":["x",null],)"
      R"("key":"AP8=","flags":[true,false],"e~mail":"a\\b"})");
}

struct BorrowedLine {
  std::string_view item;
  std::span<const std::string> tags;
  std::span<const int> counts;
};
KATANA_DESCRIBE(BorrowedLine, item, tags, counts)

TEST(JsonWrite, views_are_written_as_what_they_show) {
  const std::vector<std::string> tags = {"a\"b", ""};
  const std::vector<int> counts = {1, -2};
  EXPECT_EQ(written(std::vector{BorrowedLine{"tea", tags, counts}, BorrowedLine{}}),
            R"([{"item":"tea","tags":["a\"b",""],"counts":[1,-2]},)"
            R"({"item":"","tags":[],"counts":[]}])");
  const std::string long_text(2'000, '\n');
  EXPECT_EQ(written(std::string_view(long_text)), written(long_text));
}

TEST(JsonWrite, what_is_empty_stays_a_list_or_an_object) {
  EXPECT_EQ(written(std::vector<int>()), "[]");
  EXPECT_EQ(written(std::map<std::string, int>()), "{}");
  EXPECT_EQ(written(std::vector<std::vector<int>>{{}, {1}, {}}), "[[],[1],[]]");
  EXPECT_EQ(written(Value(Object())), "{}");
}

TEST(JsonWrite, integers_have_all_their_digits) {
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::int8_t{-128}), "-128");
  std::uint64_t power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10) {
    EXPECT_EQ(written(power), std::to_string(power));
    EXPECT_EQ(written(power - 1), std::to_string(power - 1));
  }
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t number = std::uint64_t{1} << bit;
    EXPECT_EQ(to_json(number), std::to_string(number));
  }
}

TEST(JsonWrite, real_numbers_are_short_and_never_look_like_integers) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1.0), "1.0");
  EXPECT_EQ(written(-0.0), "-0.0");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(0.1f), "0.1");
  EXPECT_EQ(written(5e-324), "5e-324");
  EXPECT_EQ(written(std::numeric_limits<double>::lowest()), "-1.7976931348623157e+308");
  EXPECT_EQ(written(123456789012345680.0), "123456789012345680.0");
}

TEST(JsonWrite, what_json_has_no_number_for_is_null) {
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(written(-std::numeric_limits<float>::infinity()), "null");
  EXPECT_EQ(written(static_cast<State>(99)), "null");
}

TEST(JsonWrite, what_may_not_stand_in_a_string_is_escaped_wherever_it_stands) {
  EXPECT_EQ(written(std::string("\"\\\b\f\n\r\t\x01\x1f\x7f/")),
            "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\"");
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '"';
      std::string expected = "\"" + std::string(at, 'x') + "\\\"" + std::string(size - at - 1, 'x');
      EXPECT_EQ(to_json(text), expected + "\"");
    }
  }
}

TEST(JsonWrite, characters_stay_and_octets_that_are_none_are_replaced) {
  EXPECT_EQ(written(std::string("h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80")),
            "\"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(written(std::string("a\xff"
                                "b\xc3")),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
}

TEST(JsonWrite, long_text_is_cut_into_windows_between_characters) {
  std::string text;
  while (text.size() < 20'000) text += "\xe2\x82\xac\n";
  std::string expected = "\"";
  for (std::size_t at = 0; at < text.size(); at += 4) expected += "\xe2\x82\xac\\n";
  EXPECT_EQ(written(text), expected + "\"");
  User user = some_user();
  user.name = std::string(3000, 'n');
  EXPECT_EQ(written(user).size(), 3000 - 3 + written(some_user()).size());
}

TEST(JsonWrite, octets_are_base64) {
  const auto encoded = [](std::string_view text) {
    Octets octets;
    for (const char c : text) octets.push_back(static_cast<std::byte>(c));
    return written(octets);
  };
  EXPECT_EQ(encoded(""), "\"\"");  // RFC 4648 §10
  EXPECT_EQ(encoded("f"), "\"Zg==\"");
  EXPECT_EQ(encoded("fo"), "\"Zm8=\"");
  EXPECT_EQ(encoded("foo"), "\"Zm9v\"");
  EXPECT_EQ(encoded("foobar"), "\"Zm9vYmFy\"");
  EXPECT_EQ(encoded(std::string(3000, '\0')), "\"" + std::string(4000, 'A') + "\"");
}

TEST(JsonWrite, stands_behind_what_its_destination_holds) {
  std::string text = "data: ";
  write_json(1, text);
  write_json(std::vector<int>{2, 3}, text);
  EXPECT_EQ(text, "data: 1[2,3]");
}

TEST(JsonWrite, an_outbox_without_blocks_left_is_said) {
  BlockPool pool(256, 3);
  Outbox outbox(pool);
  EXPECT_FALSE(write_json(std::vector<std::string>(100, "twenty characters..."), outbox));
  outbox.clear();
  EXPECT_TRUE(write_json(some_user(), outbox));
}

TEST(JsonWrite, any_double_reads_back_as_itself) {
  std::mt19937_64 random(7);
  for (int count = 0; count < 20'000; ++count) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string text = to_json(number);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)),
              std::bit_cast<std::uint64_t>(number))
        << text;
    ASSERT_LE(text.size(), json_real_bound);
  }
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
