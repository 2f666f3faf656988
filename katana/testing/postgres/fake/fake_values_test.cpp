#include "katana/testing/postgres/fake/fake_values.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace katana::testing {
namespace {

TEST(FakeValues, each_type_is_read_as_it_was_written) {
  const std::vector<std::pair<PgType, std::vector<std::string>>> values = {
      {PgType::boolean, {"t", "f"}},
      {PgType::int2, {"0", "-1", "32767", "-32768"}},
      {PgType::int4, {"0", "-1", "2147483647"}},
      {PgType::int8, {"0", "-1", "9223372036854775807"}},
      {PgType::float8, {"0", "-1.5", "1e+300"}},
      {PgType::text, {"", "Ada"}},
      {PgType::varchar, {"Ada"}},
      {PgType::json, {"{}"}},
      {PgType::jsonb, {"", "{}"}},
      {PgType::bytea, {std::string("\0\1\xff", 3)}},
      {PgType::timestamptz, {"2000-01-01T00:00:00.000000Z", "1999-12-31T23:59:59.999999Z"}},
      {PgType::uuid, {"01234567-89ab-cdef-0123-456789abcdef"}},
  };
  for (const auto& [type, texts] : values) {
    for (const std::string& text : texts) {
      const auto bytes = encode_binary(type, text);
      ASSERT_TRUE(bytes) << text;
      EXPECT_EQ(decode_binary(type, *bytes), text);
    }
  }
}

TEST(FakeValues, bytes_are_those_of_postgresql) {
  EXPECT_EQ(encode_binary(PgType::int4, "258"), std::string("\0\0\1\2", 4));
  EXPECT_EQ(encode_binary(PgType::int2, "-2"), std::string("\xff\xfe", 2));
  EXPECT_EQ(encode_binary(PgType::jsonb, "{}"), "\1{}");
  EXPECT_EQ(encode_binary(PgType::timestamptz, "2000-01-01T00:00:01Z"),
            std::string("\0\0\0\0\0\x0f\x42\x40", 8));
}

TEST(FakeValues, a_text_that_is_no_value_has_no_bytes) {
  for (const auto& [type, text] :
       std::vector<std::pair<PgType, std::string>>{{PgType::boolean, "true"},
                                                   {PgType::int2, "32768"},
                                                   {PgType::int4, "1x"},
                                                   {PgType::int8, ""},
                                                   {PgType::float8, "one"},
                                                   {PgType::timestamptz, "yesterday"},
                                                   {PgType::uuid, "0"}}) {
    EXPECT_EQ(encode_binary(type, text), std::nullopt) << text;
  }
  EXPECT_EQ(decode_binary(PgType::int4, "123"), "?");
  EXPECT_EQ(decode_binary(PgType::boolean, ""), "?");
  EXPECT_EQ(decode_binary(PgType::uuid, "short"), "?");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
