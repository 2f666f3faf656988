// Every form of a column, read from its bytes and by its value: both are the same.
#include "katana/stores/database/postgres/received_row.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "katana/base/values/random.hpp"
#include "katana/wire/postgres/server_test.hpp"

namespace katana::database::postgres {
namespace {

using protocol::test::number;

class ReceivedRowTest : public testing::Test {
 protected:
  // Returns whether the bytes alone were enough.
  template <class T>
  bool reads_alike(Form form, const std::string& bytes) {
    prepared_.forms = {form};
    prepared_.column_types = {0};
    const std::string body =
        number(1, 2) + number(static_cast<std::uint32_t>(bytes.size()), 4) + bytes;
    const ReceivedRow row(body, prepared_, types_, memory_);
    T plain{}, other{};
    if (!database::detail::read_bytes(row.bytes()[0], row.form(0), plain)) return false;
    EXPECT_EQ(database::detail::read_value(row.value(0), other), nullptr);
    EXPECT_TRUE(plain == other || plain != plain) << static_cast<int>(form);
    return true;
  }

  Prepared prepared_;
  TypeTable types_;
  LinkMemory memory_;
  Random random_{7};
};

TEST_F(ReceivedRowTest, bytes_of_every_form_and_size_are_read_as_value_reads_them_or_left_to_it) {
  int plain = 0;
  for (int form = 0; form <= static_cast<int>(Form::nothing); ++form) {
    for (std::size_t size = 0; size <= 16; ++size) {
      for (int round = 0; round < 20; ++round) {
        std::string bytes(size, '\0');
        for (char& each : bytes) {
          // Half of the numbers are small, so that they fit narrow members.
          each =
              static_cast<char>(round % 2 == 0 && size > 2 ? random_.below(2) : random_.below(256));
        }
        if (round % 2 == 0 && size > 2) bytes[0] = bytes[1] = 0;
        const Form given{static_cast<std::uint8_t>(form)};
        plain += reads_alike<std::int64_t>(given, bytes);
        plain += reads_alike<std::int16_t>(given, bytes);
        plain += reads_alike<std::uint8_t>(given, bytes);
        plain += reads_alike<bool>(given, bytes);
        plain += reads_alike<double>(given, bytes);
        plain += reads_alike<float>(given, bytes);
        plain += reads_alike<std::string>(given, bytes);
        plain += reads_alike<std::optional<int>>(given, bytes);
      }
    }
  }
  EXPECT_GT(plain, 400);
}

TEST_F(ReceivedRowTest, the_usual_forms_are_read_from_their_bytes) {
  EXPECT_TRUE(reads_alike<std::int64_t>(Form::int8, number(0, 4) + number(7, 4)));
  EXPECT_TRUE(reads_alike<std::int64_t>(Form::int4, number(7, 4)));
  EXPECT_TRUE(reads_alike<int>(Form::int2, number(7, 2)));
  EXPECT_TRUE(reads_alike<double>(Form::float8, number(0x3fe00000, 4) + number(0, 4)));
  EXPECT_TRUE(reads_alike<std::string>(Form::text, "text"));
  EXPECT_TRUE(reads_alike<std::string>(Form::text, ""));
  EXPECT_TRUE(reads_alike<std::optional<int>>(Form::int4, number(7, 4)));
}

// A server may send a row with more columns than it has described, or fewer.
TEST_F(ReceivedRowTest, a_row_with_other_columns_than_the_description_has_no_bytes) {
  prepared_.forms = {Form::int4};
  prepared_.column_types = {23};
  const std::string body = number(2, 2) + number(0, 4) + number(0, 4);
  const ReceivedRow row(body, prepared_, types_, memory_);
  EXPECT_EQ(row.bytes(), nullptr);
  EXPECT_EQ(row.value(1).type, Value::Type::null);
  prepared_.forms = {Form::int4, Form::int4, Form::int4};
  prepared_.column_types = {23, 23, 23};
  const ReceivedRow shorter(body, prepared_, types_, memory_);
  EXPECT_EQ(shorter.bytes(), nullptr);
  EXPECT_EQ(shorter.value(2).type, Value::Type::null);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
