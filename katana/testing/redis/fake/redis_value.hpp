// RedisValue: a reply of a FakeRedis, in the types that RESP3 has.
//
// Owns       its texts and elements.
// Thread     values.
// Allocates  as strings and vectors do.
// Fails      never.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace katana::testing {

struct RedisValue {
  // map: a key before each value. push: a message that no command asked for.
  enum class Type : std::uint8_t { null, status, error, integer, text, number, array, map, push };

  Type type = Type::null;                 // decides which members are valid
  std::int64_t integer = 0;               // of an integer
  double number_value = 0;                // of a number
  std::string text = {};                  // of a status, an error or a text
  std::vector<RedisValue> elements = {};  // of an array, a map or a push

  // The reply to most writes.
  static RedisValue ok() { return status("OK"); }
  // A word that is no data: "OK".
  static RedisValue status(std::string text) {
    return {.type = Type::status, .text = std::move(text)};
  }
  // `text` begins with the code: "ERR unknown command".
  static RedisValue error(std::string text) {
    return {.type = Type::error, .text = std::move(text)};
  }
  // An integer.
  static RedisValue count(std::int64_t value) { return {.type = Type::integer, .integer = value}; }
  // Text of any bytes.
  static RedisValue bulk(std::string text) { return {.type = Type::text, .text = std::move(text)}; }
  // A score.
  static RedisValue number(double value) { return {.type = Type::number, .number_value = value}; }
  // Values in an order.
  static RedisValue array(std::vector<RedisValue> elements = {}) {
    return {.type = Type::array, .elements = std::move(elements)};
  }

  // A reply that begins with an error's code.
  bool is_error() const noexcept { return type == Type::error; }
  // As RESP3 has it on the wire.
  std::string wire() const;
};

// The shortest text that reads as the same number: "1", "0.1".
std::string number_text(double value);
// ASCII letters in upper case, as commands compare their words.
std::string upper_case(std::string text);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
