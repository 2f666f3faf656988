#include "katana/service/html.hpp"

#include <algorithm>

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

// What stands before a colon that comes before any other delimiter of a URL.
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
    const std::size_t plain = std::min(text.find_first_of("&<>\"'"), text.size());
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

void append_to_argument(std::string& to, Bytes& pattern) {
  while (true) {
    const std::size_t brace = std::min(pattern.find_first_of("{}"), pattern.size());
    to.append(pattern.substr(0, brace));
    pattern.remove_prefix(brace);
    if (pattern.empty()) return;
    const bool is_argument = pattern.starts_with("{}");
    if (!is_argument) to.push_back(pattern.front());
    pattern.remove_prefix(2);
    if (is_argument) return;
  }
}

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
