#include "katana/data/config/scalar.hpp"

#include <algorithm>
#include <array>

namespace katana::config {

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
  // 010 is 8 to some readers of YAML and 10 to others.
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

}  // namespace detail

std::string quoted_if_needed(Bytes text) {
  // A subset of what YAML takes as plain text, within lists too.
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
