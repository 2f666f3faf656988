#include "katana/observe/trace/baggage.hpp"

#include <algorithm>

#include "katana/base/text/utf8.hpp"
#include "katana/observe/trace/list_member.hpp"

namespace katana::trace {
namespace {

using detail::hex_digit;
using detail::take_until;
using detail::trimmed;

constexpr bool is_token_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         Bytes("!#$%&'*+-.^_`|~").find(c) != Bytes::npos;
}
// A character of a value: printable ASCII without space, '"', ',', ';' and '\\'.
constexpr bool is_baggage_character(char c) noexcept {
  return c > ' ' && c <= '~' && Bytes("\",;\\").find(c) == Bytes::npos;
}
bool is_baggage_value(Bytes value) noexcept {
  return std::ranges::all_of(value, is_baggage_character);
}

Bytes baggage_key_of(Bytes member) noexcept { return trimmed(member.substr(0, member.find('='))); }

// property = key OWS "=" OWS value / key
bool is_property(Bytes property) noexcept {
  const std::size_t sign = property.find('=');
  if (!is_baggage_key(trimmed(property.substr(0, sign)))) return false;
  return sign == Bytes::npos || is_baggage_value(trimmed(property.substr(sign + 1)));
}
bool is_member(Bytes member) noexcept {
  Bytes rest = member;
  const Bytes pair = take_until(';', rest);
  const std::size_t sign = pair.find('=');
  if (sign == Bytes::npos || !is_baggage_key(baggage_key_of(pair)) ||
      !is_baggage_value(trimmed(pair.substr(sign + 1)))) {
    return false;
  }
  if (member.ends_with(';')) return false;
  while (!rest.empty()) {
    if (!is_property(trimmed(take_until(';', rest)))) return false;
  }
  return true;
}

// A '%' without two digits stays. Bytes that are no UTF-8 become U+FFFD, as §3.3.1.2.4 says.
std::string decoded(Bytes value) {
  std::string raw;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool has_digits = value[at] == '%' && at + 2 < value.size() &&
                            hex_digit(value[at + 1]) >= 0 && hex_digit(value[at + 2]) >= 0;
    raw += has_digits ? static_cast<char>(hex_digit(value[at + 1]) * 16 + hex_digit(value[at + 2]))
                      : value[at];
    if (has_digits) at += 2;
  }
  std::string text;
  for (Bytes rest = raw; !rest.empty();) text += take_character(rest);
  return text;
}

}  // namespace

bool is_baggage_key(Bytes key) noexcept {
  return !key.empty() && std::ranges::all_of(key, is_token_character);
}

void Baggage::add(Bytes value) {
  while (!value.empty()) {
    if (const Bytes member = trimmed(take_until(',', value)); !member.empty()) add_member(member);
  }
}

void Baggage::add_member(Bytes member) {
  if (!is_member(member)) {
    has_ignored_ = true;
    return;
  }
  if (std::ranges::find(keys_, baggage_key_of(member)) == keys_.end()) return;
  if (text_.size() + 1 + member.size() > baggage_bytes_max) {
    has_ignored_ = true;
    return;
  }
  if (text_.size() > 0) text_.push_back(',');
  text_.append(member);
}

std::optional<std::string> find_in_baggage(Bytes baggage, Bytes key) {
  std::optional<std::string> found;
  while (!baggage.empty()) {
    Bytes member = take_until(',', baggage);
    Bytes pair = take_until(';', member);
    if (baggage_key_of(pair) != key) continue;
    take_until('=', pair);
    found = decoded(trimmed(pair));
  }
  return found;
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
