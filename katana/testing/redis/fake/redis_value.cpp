#include "katana/testing/redis/fake/redis_value.hpp"

#include <fmt/format.h>

#include <limits>

namespace katana::testing {

std::string number_text(double value) {
  if (value == std::numeric_limits<double>::infinity()) return "inf";
  if (value == -std::numeric_limits<double>::infinity()) return "-inf";
  const auto whole = static_cast<std::int64_t>(value);
  const bool is_whole = value > -1e15 && value < 1e15 && static_cast<double>(whole) == value;
  return is_whole ? fmt::format("{}", whole) : fmt::format("{}", value);
}

std::string upper_case(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string RedisValue::wire() const {
  std::string made;
  switch (type) {
    case Type::null: return "_\r\n";
    case Type::status: return fmt::format("+{}\r\n", text);
    case Type::error: return fmt::format("-{}\r\n", text);
    case Type::integer: return fmt::format(":{}\r\n", integer);
    case Type::text: return fmt::format("${}\r\n{}\r\n", text.size(), text);
    case Type::number: return fmt::format(",{}\r\n", number_text(number_value));
    case Type::array: made = fmt::format("*{}\r\n", elements.size()); break;
    case Type::push: made = fmt::format(">{}\r\n", elements.size()); break;
    case Type::map: made = fmt::format("%{}\r\n", elements.size() / 2); break;
  }
  for (const RedisValue& each : elements) made += each.wire();
  return made;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
