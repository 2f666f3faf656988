#include "katana/identity/idempotency/key_field.hpp"

#include <algorithm>

namespace katana::idempotency {
namespace {

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_bare(char c) noexcept {
  return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

Bytes without_spaces(Bytes text) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Removes the string at the front of `rest`, and returns it (RFC 9651 §4.2.5).
std::optional<std::string> take_string(Bytes& rest) {
  std::string text;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '"') {
      rest.remove_prefix(at + 1);
      return text;
    }
    if (c < ' ' || c >= 0x7f) return {};
    if (c != '\\') {
      text.push_back(c);
      continue;
    }
    ++at;
    if (at == rest.size() || (rest[at] != '"' && rest[at] != '\\')) return {};
    text.push_back(rest[at]);
  }
  return {};
}

// True for a list of ";name" and ";name=value" (RFC 9651 §4.2.3.2). A value is a string, or other
// characters than delimiters.
bool are_parameters(Bytes rest) {
  while (!rest.empty()) {
    if (rest.front() != ';') return false;
    rest.remove_prefix(1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest.empty() || (!is_lower(rest.front()) && rest.front() != '*')) return false;
    const auto is_of_name = [](char c) {
      return is_lower(c) || is_digit(c) || Bytes("_-.*").find(c) != Bytes::npos;
    };
    while (!rest.empty() && is_of_name(rest.front())) rest.remove_prefix(1);
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    if (rest.starts_with('"')) {
      if (!take_string(rest)) return false;
      continue;
    }
    std::size_t size = 0;
    while (size < rest.size() && is_bare(rest[size])) ++size;
    if (size == 0) return false;
    rest.remove_prefix(size);
  }
  return true;
}

bool has_size(const std::string& key) noexcept {
  return !key.empty() && key.size() <= key_bytes_max;
}

}  // namespace

std::optional<std::string> parse_key(Bytes value, bool bare) {
  Bytes rest = without_spaces(value);
  std::optional<std::string> key;
  if (rest.starts_with('"')) {
    key = take_string(rest);
    if (!key || !are_parameters(rest)) return {};
  } else {
    if (!bare || !std::ranges::all_of(rest, is_bare)) return {};
    key = std::string(rest);
  }
  if (!has_size(*key)) return {};
  return key;
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
