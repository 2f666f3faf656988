#include "katana/stores/database/postgres/types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/base/values/timestamp.hpp"
#include "katana/stores/database/postgres/type_table.hpp"

namespace katana::database::postgres {
namespace {

using namespace std::string_view_literals;

std::string text_of(Form form, Bytes octets) {
  std::string text;
  const Value value = decode(form, octets, text);
  return value.type == Value::Type::text ? std::string(value.octets) : "no text";
}

TEST(PostgresTypes, numbers_come_in_network_order) {
  std::string text;
  EXPECT_EQ(decode(Form::int2, "\xff\xfe"sv, text).integer, -2);
  EXPECT_EQ(decode(Form::int4, "\0\0\1\0"sv, text).integer, 256);
  EXPECT_EQ(decode(Form::int8, "\x80\0\0\0\0\0\0\0"sv, text).integer,
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(decode(Form::oid, "\xff\xff\xff\xff"sv, text).integer, 4'294'967'295);
  EXPECT_EQ(decode(Form::float4, "\x3f\x80\0\0"sv, text).real, 1.0);
  EXPECT_EQ(decode(Form::float8, "\xbf\xf0\0\0\0\0\0\0"sv, text).real, -1.0);
  EXPECT_EQ(decode(Form::boolean, "\1"sv, text).integer, 1);
}

TEST(PostgresTypes, octets_of_a_wrong_length_are_no_value) {
  std::string text;
  constexpr auto broken = Value::Type::broken;
  for (const Form form : {Form::boolean, Form::int2, Form::int4, Form::int8, Form::oid,
                          Form::float4, Form::float8, Form::numeric, Form::timestamptz,
                          Form::timestamp, Form::date, Form::interval, Form::uuid, Form::jsonb}) {
    EXPECT_EQ(decode(form, {}, text).type, broken);
    EXPECT_EQ(decode(form, "123"sv, text).type, broken);
  }
  EXPECT_EQ(decode(Form::numeric, "\0\2\0\0\0\0\0\0\0\1"sv, text).type, broken)
      << "fewer digits than it says";
  EXPECT_EQ(decode(Form::numeric, "\0\1\0\0\0\0\0\0\x27\x10"sv, text).type, broken)
      << "a digit of 10,000";
  EXPECT_EQ(decode(Form::numeric, "\0\0\0\0\x12\0\0\0"sv, text).type, broken) << "its sign";
}

TEST(PostgresTypes, a_numeric_is_written_with_the_digits_that_it_shows) {
  EXPECT_EQ(text_of(Form::numeric, "\0\2\0\0\0\0\0\2\0\x0c\x0b\xb8"sv), "12.30");
  EXPECT_EQ(text_of(Form::numeric, "\0\1\0\1\x40\0\0\0\0\1"sv), "-10000");
  EXPECT_EQ(text_of(Form::numeric, "\0\1\xff\xff\0\0\0\4\0\1"sv), "0.0001");
  EXPECT_EQ(text_of(Form::numeric, "\0\1\xff\xfe\0\0\0\6\0\x64"sv), "0.000001");
  EXPECT_EQ(text_of(Form::numeric, "\0\0\0\0\0\0\0\0"sv), "0");
  EXPECT_EQ(text_of(Form::numeric, "\0\0\0\0\xc0\0\0\0"sv), "NaN");
}

TEST(PostgresTypes, times_are_texts_of_their_forms) {
  EXPECT_EQ(text_of(Form::timestamptz, "\0\0\0\0\0\0\0\1"sv), "2000-01-01T00:00:00.000001Z");
  EXPECT_EQ(text_of(Form::timestamp, "\0\0\0\0\0\0\0\0"sv), "2000-01-01T00:00:00.000000");
  EXPECT_EQ(text_of(Form::timestamptz, "\x7f\xff\xff\xff\xff\xff\xff\xff"sv), "infinity");
  EXPECT_EQ(text_of(Form::date, "\xff\xff\xff\xff"sv), "1999-12-31");
  EXPECT_EQ(text_of(Form::interval, "\0\0\0\0\0\x0f\x42\x40\0\0\0\1\0\0\0\0"sv), "86401s");
  EXPECT_EQ(text_of(Form::interval, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"sv), "1 mons 0 days 0 us");
}

TEST(PostgresTypes, days_beyond_the_texts_of_dates_are_no_dates_and_stay_what_they_are) {
  EXPECT_EQ(text_of(Form::date, "\0\x2c\x95\xd3"sv), "9999-12-31");
  EXPECT_EQ(text_of(Form::date, "\0\x2c\x95\xd4"sv), "+10000-01-01");
  EXPECT_EQ(text_of(Form::date, "\x7f\xff\xff\xfe"sv), "+5881610-07-10");
  EXPECT_EQ(text_of(Form::date, "\xff\xf4\xda\x8b"sv), "0000-01-01");
  EXPECT_EQ(text_of(Form::date, "\xff\xf4\xda\x8a"sv), "-0001-12-31");
  EXPECT_EQ(text_of(Form::timestamptz, "\x03\x80\xe7\x0b\x91\x3b\x7f\xff"sv),
            "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(text_of(Form::timestamptz, "\x03\x80\xe7\x0b\x91\x3b\x80\0"sv),
            "+10000-01-01T00:00:00.000000Z");
  for (const char* const text : {"+10000-01-01", "-0001-12-31"}) {
    EXPECT_FALSE(TextForm<Date>::parse(text));
    EXPECT_FALSE(TextForm<Timestamp>::parse(std::string(text) + "T00:00:00.000000Z"));
  }
}

TEST(PostgresTypes, arguments_fit_the_type_that_the_statement_has) {
  constexpr std::uint32_t bool_type = 16, int2_type = 21, int4_type = 23, text_type = 25,
                          numeric_type = 1700, enum_type = 20'000, bytea_type = 17;
  Arguments arguments;
  const auto take = [&](const Value& value, std::uint32_t type) {
    const char* const why = arguments.take({&value, 1}, {&type, 1}, TypeTable());
    if (why != nullptr) return std::string(why);
    const bool is_binary = arguments.formats()[0] == protocol::Format::binary;
    return std::string(arguments.values()[0].bytes) + (is_binary ? "|b" : "|t");
  };
  EXPECT_EQ(take(Value::of_integer(258), int4_type), "\0\0\1\2|b"sv);
  EXPECT_EQ(take(Value::of_integer(1), bool_type), "\1|b"sv);
  EXPECT_THAT(take(Value::of_integer(2), bool_type), testing::HasSubstr("boolean"));
  EXPECT_THAT(take(Value::of_integer(40'000), int2_type), testing::HasSubstr("out of range"));
  EXPECT_EQ(take(Value::of_integer(-7), numeric_type), "-7|t");
  EXPECT_EQ(take(Value::of_integer(-7), enum_type), "-7|t");
  EXPECT_EQ(take(Value::of_text("a"), text_type), "a|b");
  EXPECT_EQ(take(Value::of_text(""), text_type), "|b");
  EXPECT_EQ(take(Value::of_text("12.30"), numeric_type), "12.30|t");
  EXPECT_THAT(take(Value::of_text("a\0b"sv), text_type), testing::HasSubstr("zero byte"));
  EXPECT_THAT(take(Value::of_integer(1), text_type), testing::HasSubstr("another type"));
  EXPECT_THAT(take(Value::of_text("a"), bytea_type), testing::HasSubstr("blob"));
  EXPECT_EQ(take(Value::of_blob({}), bytea_type), "|b") << "empty is not null";
  EXPECT_EQ(arguments.failed_at(), 2u);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
