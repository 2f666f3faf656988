#include "katana/data/config/scalar.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace katana::config {
namespace {

template <class N>
void put_as(std::uint64_t number, void* value) {
  const N made = static_cast<N>(number);
  std::memcpy(value, &made, sizeof made);
}
void put_number(std::uint64_t number, std::size_t size, void* value) {
  if (size == 1) put_as<std::uint8_t>(number, value);
  if (size == 2) put_as<std::uint16_t>(number, value);
  if (size == 4) put_as<std::uint32_t>(number, value);
  if (size == 8) put_as<std::uint64_t>(number, value);
}

template <class N>
std::uint64_t number_as(const void* value) {
  N number;
  std::memcpy(&number, value, sizeof number);
  return number;
}
std::uint64_t number_of(std::size_t size, const void* value) {
  if (size == 1) return number_as<std::uint8_t>(value);
  if (size == 2) return number_as<std::uint16_t>(value);
  if (size == 4) return number_as<std::uint32_t>(value);
  return number_as<std::uint64_t>(value);
}

}  // namespace

namespace detail {

Digits read_digits(Bytes text, bool& negative, std::uint64_t& magnitude) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x")) base = 16;
  if (text.starts_with("0o")) base = 8;
  if (base != 10) text.remove_prefix(2);
  // Some readers of YAML read 010 as 8, and others as 10.
  if (base == 10 && text.size() > 1 && text.front() == '0') return Digits::none;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error == std::errc::result_out_of_range) return Digits::too_large;
  if (error != std::errc() || end != text.data() + text.size()) return Digits::none;
  return Digits::read;
}

std::string got(const Node& node) {
  if (node.kind == Node::Kind::nothing) return ", got nothing: give it a value, or remove the key";
  if (node.kind != Node::Kind::text) return fmt::format(", got {}", node.kind_name());
  constexpr std::size_t shown_max = 64;
  if (node.text.size() <= shown_max) return fmt::format(", got '{}'", node.text);
  return fmt::format(", got text of {} bytes", node.text.size());
}

std::string words_of_names(std::span<const EnumeratorValue> names) {
  std::string words = "one of ";
  Bytes separator;
  for (const EnumeratorValue& each : names) {
    words.append(separator).append(each.name.empty() ? Bytes("''") : each.name);
    separator = ", ";
  }
  return words;
}

std::string read_name(const Node& node, std::span<const EnumeratorValue> names, std::size_t size,
                      void* value) {
  const auto found = node.kind == Node::Kind::text
                         ? std::ranges::find(names, Bytes(node.text), &EnumeratorValue::name)
                         : names.end();
  if (found == names.end()) return words_of_names(names) + got(node);
  put_number(found->value, size, value);
  return {};
}

std::string write_name(std::span<const EnumeratorValue> names, std::size_t size,
                       const void* value) {
  const auto found = std::ranges::find(names, number_of(size, value), &EnumeratorValue::value);
  return quoted_if_needed(found == names.end() ? Bytes() : found->name);
}

}  // namespace detail

std::string quoted_if_needed(Bytes text) {
  // A subset of YAML's plain text, which is also valid in lists.
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '@' || c == '-' || c == '+';
  };
  constexpr std::array<Bytes, 10> words = {"null", "true", "false", "yes",  "no",
                                           "on",   "off",  "Null",  "NULL", "~"};
  const bool letter_first =
      !text.empty() && (text.front() == '/' || text.front() == '_' ||
                        ((text.front() | 0x20) >= 'a' && (text.front() | 0x20) <= 'z'));
  if (letter_first && std::ranges::all_of(text, plain) &&
      std::ranges::find(words, text) == words.end()) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
