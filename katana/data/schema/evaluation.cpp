#include "katana/data/schema/evaluation.hpp"

#include <array>
#include <bit>
#include <utility>

#include "katana/base/values/secrets.hpp"

namespace katana::schema {

const KeyedHash& item_hash() {
  static const KeyedHash keyed = [] {
    std::array<char, 16> octets{};
    fill_random(octets);
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(octets);
    return KeyedHash(words[0], words[1]);
  }();
  return keyed;
}

std::string words_of_types(std::uint8_t types) {
  constexpr std::pair<std::uint8_t, const char*> names[] = {
      {null_type, "null"},       {boolean_type, "a boolean"}, {integer_type, "an integer"},
      {number_type, "a number"}, {string_type, "a string"},   {array_type, "an array"},
      {object_type, "an object"}};
  std::string words;
  for (const auto& [type, name] : names) {
    if ((types & type) == 0) continue;
    if (!words.empty()) words += " or ";
    words += name;
  }
  return words.empty() ? "nothing" : words;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
