// Members of a list in a header field, such as tracestate and baggage, or in a variable of
// OpenTelemetry.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <algorithm>

#include "katana/base/text/bytes.hpp"

namespace katana::trace::detail {

// Without blanks and tabs at both ends.
inline Bytes trimmed(Bytes text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the text before the next `separator`, and the separator.
inline Bytes take_until(char separator, Bytes& rest) noexcept {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const Bytes taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

// The value of a hexadecimal digit, in either case; -1: it is none.
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace katana::trace::detail

// SPDX-License-Identifier: Apache-2.0
