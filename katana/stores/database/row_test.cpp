// Rows whose columns are read from their bytes, beside the same rows by value().
#include "katana/stores/database/row.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/call.hpp"
#include "katana/stores/database/scripted_backend_test.hpp"

namespace katana::database {
namespace {

using namespace std::string_literals;

struct Person {
  std::int64_t id = 0;
  short age = 0;
  std::string name;
  std::optional<std::string> nick;
  double size = 0;
};
KATANA_DESCRIBE(Person, id, age, name, nick, size)

struct Column {
  Bytes name;
  Plain form;
  Bytes bytes;  // without data: null
};

// value() is asked for where the bytes do not do, and counted.
class ByteRow final : public database::Row {
 public:
  explicit ByteRow(std::vector<Column> columns, bool has_bytes = true)
      : columns_(std::move(columns)) {
    for (const Column& each : columns_) raw_.push_back(each.bytes);
    if (has_bytes) bytes_ = raw_.data();
  }
  std::size_t columns() const noexcept override { return columns_.size(); }
  Bytes name(std::size_t column) const noexcept override { return columns_[column].name; }
  Plain form(std::size_t column) const noexcept override { return columns_[column].form; }
  Value value(std::size_t column) const noexcept override {
    ++values;
    const auto& [name, form, bytes] = columns_[column];
    if (bytes.data() == nullptr) return {};
    std::int64_t number = 0;
    if (detail::read_plain(bytes, form, number)) return Value::of_integer(number);
    if (form == Plain::text) return Value::of_text(bytes);
    double real = 0;
    if (detail::read_plain(bytes, form, real)) return Value::of_real(real);
    return Value::of_broken("is broken");
  }

  mutable int values = 0;

 private:
  std::vector<Column> columns_;
  std::vector<Bytes> raw_;
};

const std::string eight = "\0\0\0\0\0\0\0\x08"s, four = "\0\0\0\x04"s, two = "\xff\xfe"s,
                  half = "\x3f\xe0\0\0\0\0\0\0"s;

std::vector<Column> person() {
  // In another order than the members, with a column that is no member.
  return {{"size", Plain::float64, half},
          {"nick", Plain::text, {}},
          {"other", Plain::none, "x"},
          {"name", Plain::text, "a name that is longer than a string's own room"},
          {"age", Plain::int16, two},
          {"id", Plain::int32, four}};
}

TEST(RowReader, a_struct_is_read_from_bytes_alone_and_is_what_value_gives) {
  const ByteRow row(person()), other(person(), false);
  RowReader<Person> reader, other_reader;
  Person made, by_value;
  made.nick = "before";
  ASSERT_FALSE(reader.read(row, made));
  ASSERT_FALSE(other_reader.read(other, by_value));
  EXPECT_EQ(row.values, 0);
  EXPECT_EQ(other.values, 5);
  EXPECT_EQ(made.id, 4);
  EXPECT_EQ(made.age, -2);
  EXPECT_EQ(made.name, "a name that is longer than a string's own room");
  EXPECT_EQ(made.nick, std::nullopt);
  EXPECT_EQ(made.size, 0.5);
  EXPECT_EQ(made.id, by_value.id);
  EXPECT_EQ(made.name, by_value.name);
}

TEST(RowReader, a_misfit_is_the_one_of_value_and_names_its_column) {
  const auto misfit_of = [](Bytes column, const Column& other) {
    std::vector<Column> columns = person();
    for (Column& each : columns) {
      if (each.name == column) each = other;
    }
    const ByteRow row(columns), by_value(columns, false);
    RowReader<Person> reader, other_reader;
    Person made;
    const TypeMismatch found = reader.read(row, made), wanted = other_reader.read(by_value, made);
    EXPECT_EQ(found.column, wanted.column);
    if (!found || !wanted) return std::string("none");
    EXPECT_STREQ(found.why, wanted.why);
    return std::string(found.column) + " " + found.why;
  };
  EXPECT_EQ(misfit_of("age", {"age", Plain::int64, "\0\0\0\0\0\x01\0\0"}), "age is broken");
  EXPECT_EQ(misfit_of("age", {"age", Plain::int32, Bytes("\0\x01\0\0", 4)}), "age is out of range");
  EXPECT_EQ(misfit_of("age", {"age", Plain::int32, {}}),
            "age is null, and what it is read into is no optional");
  EXPECT_EQ(misfit_of("id", {"id", Plain::text, "7"}), "id is no integer");
  EXPECT_EQ(misfit_of("name", {"name", Plain::text, {}}),
            "name is null, and what it is read into is no optional");
  EXPECT_EQ(misfit_of("name", {"name", Plain::int32, four}), "name is no text");
  EXPECT_EQ(misfit_of("size", {"size", Plain::float64, four}), "size is broken");
  EXPECT_EQ(misfit_of("size", {"size", Plain::int64, eight}), "none");
}

TEST(RowReader, a_text_of_every_length_replaces_what_was_there) {
  const std::string all = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::vector<char> apart(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    const Bytes bytes(size == 0 ? all.data() : apart.data(), size);
    for (std::string text : {""s, "x"s, "a text that was there before, and is longer"s}) {
      ASSERT_TRUE(detail::read_bytes(bytes, Plain::text, text));
      EXPECT_EQ(text, bytes);
    }
  }
}

TEST(RowReader, a_boolean_and_a_text_form_are_left_to_value) {
  bool flag = false;
  EXPECT_FALSE(detail::read_bytes(Bytes("\0\x01", 2), Plain::int16, flag));
  std::vector<int> list;
  EXPECT_FALSE(detail::read_bytes(Bytes("[1]"), Plain::text, list));
}

TEST(CallOfManyRows, an_expectation_makes_room_and_no_more_than_64_kib) {
  Script script;
  ScriptedBackend backend(script);
  Many<Person> few, many;
  few.expect(20);
  many.expect(1'000'000'000);
  const auto some = few.result(backend), most = many.result(backend);
  EXPECT_GE(some.capacity(), 20u);
  EXPECT_GE(most.capacity(), 64 * 1024 / sizeof(Person));
  EXPECT_LE(most.capacity() * sizeof(Person), 64 * 1024 + sizeof(Person));
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
