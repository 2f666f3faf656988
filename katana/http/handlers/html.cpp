#include "katana/http/handlers/html.hpp"

#include <array>

#include "katana/wire/http/characters.hpp"

namespace katana {
namespace {

constexpr Bytes reference_of(char c) noexcept {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return "&#39;";
  }
}

// find_first_of() would call memchr() for each byte of a text.
constexpr std::array<bool, 256> is_escaped = [] {
  std::array<bool, 256> table{};
  for (const char c : Bytes("&<>\"'")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Checks the scheme: the text before a colon that comes before any other delimiter of a URL.
bool runs_nothing(Bytes url) noexcept {
  const std::size_t colon = url.find_first_of(":/?#\\");
  if (colon == Bytes::npos || url[colon] != ':') return true;
  for (const Bytes scheme : {"http", "https", "mailto", "tel"}) {
    if (http::equals_ignoring_case(url.substr(0, colon), scheme)) return true;
  }
  return false;
}

}  // namespace

void append_html(std::string& to, Bytes text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && !is_escaped[static_cast<unsigned char>(text[plain])]) ++plain;
    to.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    to.append(reference_of(text.front()));
    text.remove_prefix(1);
  }
}

std::string escape_html(Bytes text) {
  std::string escaped;
  escaped.reserve(text.size());
  append_html(escaped, text);
  return escaped;
}

SafeUrl::SafeUrl(Bytes url) : text_(runs_nothing(url) ? url : Bytes("#")) {}

namespace detail {

void append_literal(std::string& to, Bytes literal, bool has_doubled_braces) {
  while (has_doubled_braces) {
    const std::size_t brace = literal.find_first_of("{}");
    if (brace == Bytes::npos) break;
    to.append(literal.substr(0, brace + 1));
    literal.remove_prefix(brace + 2);
  }
  to.append(literal);
}

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
