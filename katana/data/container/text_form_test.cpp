// Types with a TextForm, of katana and of a program, in every format.
#include "katana/base/values/text_form.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/data/container/binary_read.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

// A type of a program: its text has no bound.
struct Tags {
  std::vector<std::string> names;
  bool operator==(const Tags&) const = default;
};

}  // namespace
}  // namespace katana::container

template <>
struct katana::TextForm<katana::container::Tags> {
  static constexpr Bytes expected = "names with plus signs between them";
  static std::optional<container::Tags> parse(Bytes text) {
    container::Tags tags;
    for (std::size_t end = 0; end != Bytes::npos; text.remove_prefix(end + 1)) {
      end = text.find('+');
      const Bytes name = text.substr(0, end);
      if (name.empty()) return std::nullopt;
      tags.names.emplace_back(name);
      if (end == Bytes::npos) break;
    }
    return tags;
  }
  static std::string write(const container::Tags& tags) {
    std::string text;
    for (const std::string& name : tags.names) text += (text.empty() ? "" : "+") + name;
    return text;
  }
};

namespace katana::container {
namespace {

struct Purchase {
  Uuid id;
  Timestamp at;
  Date day;
  Decimal price;
  std::optional<Uuid> parent;
  std::vector<Decimal> parts;
  Tags tags;
  bool operator==(const Purchase&) const = default;
};
KATANA_DESCRIBE(Purchase, id, at, day, (price, at_least(0)), parent, parts, tags)

Purchase some_purchase() {
  return {.id = *Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
          .at = Timestamp(std::chrono::microseconds(1'500'000)),
          .day = *TextForm<Date>::parse("2024-02-29"),
          .price = *Decimal::parse("12.30"),
          .parent = std::nullopt,
          .parts = {*Decimal::parse("0.1"), 7},
          .tags = {{"new", "a\"b"}}};
}

constexpr Bytes as_json =
    R"({"id":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f","at":"1970-01-01T00:00:01.500000Z",)"
    R"("day":"2024-02-29","price":"12.30","parent":null,"parts":["0.1","7"],"tags":"new+a\"b"})";

TEST(TextForm, is_a_string_of_json) {
  EXPECT_EQ(to_json(some_purchase()), as_json);
  const auto read = read_json<Purchase>(as_json);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, some_purchase());
  EXPECT_EQ(read->price.scale(), 2u);
}

TEST(TextForm, goes_through_message_pack_and_the_binary_format) {
  const auto packed = read_message_pack<Purchase>(to_message_pack(some_purchase()));
  ASSERT_TRUE(packed) << packed.error().describe();
  EXPECT_EQ(*packed, some_purchase());
  const auto binary = read_binary<Purchase>(to_binary(some_purchase()));
  ASSERT_TRUE(binary) << binary.error().describe();
  EXPECT_EQ(*binary, some_purchase());
}

std::string wrong_with(Bytes text) {
  const auto read = read_json<Purchase>(text);
  return read ? "nothing" : read.error().describe();
}
std::string replaced(Bytes from, Bytes to) {
  std::string text(as_json);
  return text.replace(text.find(from), from.size(), to);
}

TEST(TextForm, what_is_none_is_refused_with_what_was_expected) {
  EXPECT_NE(wrong_with(replaced("017f", "x17f")).find("/id: expected a UUID, got 'x17f22e2-"),
            std::string::npos)
      << wrong_with(replaced("017f", "x17f"));
  EXPECT_NE(wrong_with(replaced("2024-02-29", "2023-02-29")).find("/day: expected a date such as"),
            std::string::npos);
  EXPECT_NE(wrong_with(replaced("\"2024-02-29\"", "20240229")).find("/day: expected string"),
            std::string::npos)
      << wrong_with(replaced("\"2024-02-29\"", "20240229"));
  EXPECT_NE(wrong_with(replaced("new+", "+")).find("/tags: expected names with plus signs"),
            std::string::npos);
}

TEST(TextForm, obeys_rules_that_bound_it) {
  const std::string wrong = wrong_with(replaced("12.30", "-0.01"));
  EXPECT_NE(wrong.find("/price: expected at least 0, got -0.01"), std::string::npos) << wrong;
}

TEST(TextForm, a_decimal_is_read_from_a_number_digit_by_digit) {
  const auto read = read_json<Purchase>(replaced("\"12.30\"", "12345678901234567890.10"));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(Bytes(read->price.to_text()), "12345678901234567890.10");
  EXPECT_NE(wrong_with(replaced("\"12.30\"", "1e3")).find("/price: expected a decimal number"),
            std::string::npos);
  EXPECT_NE(wrong_with(replaced("\"12.30\"", "true")).find("/price: expected string"),
            std::string::npos);
}

struct Waits {
  std::chrono::milliseconds timeout{};
  std::optional<std::chrono::minutes> every;
  bool operator==(const Waits&) const = default;
};
KATANA_DESCRIBE(Waits, (timeout, range(std::chrono::milliseconds(1), std::chrono::minutes(5))),
                every)

TEST(TextForm, a_duration_is_a_number_with_its_unit) {
  using namespace std::chrono_literals;
  const auto read = read_json<Waits>(R"({"timeout":"1.5s","every":"2h"})");
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, (Waits{.timeout = 1500ms, .every = 120min}));
  EXPECT_EQ(to_json(*read), R"({"timeout":"1500ms","every":"2h"})");
  EXPECT_EQ(*read_message_pack<Waits>(to_message_pack(*read)), *read);
  EXPECT_EQ(*read_binary<Waits>(to_binary(*read)), *read);
  const auto fault = [](Bytes json) {
    const auto waits = read_json<Waits>(json);
    return waits ? "none" : waits.error().describe();
  };
  EXPECT_EQ(fault(R"({"timeout":"10m"})"), "/timeout: expected 1ms to 5m, got 10m");
  EXPECT_EQ(fault(R"({"timeout":"1us"})"),
            "/timeout: expected a duration in whole ms, such as 30s, got '1us'");
  EXPECT_EQ(fault(R"({"timeout":1500})"), "/timeout: expected string, got 1500");
}

struct Key {
  Uuid key;
};
KATANA_DESCRIBE(Key, (key, secret))

TEST(TextForm, a_secret_is_not_repeated) {
  const auto read = read_json<Key>(R"({"key":"hunter2"})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().describe().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
