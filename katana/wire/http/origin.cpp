#include "katana/wire/http/origin.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::http {
namespace {

// Scheme and authority of an origin. Both are empty for a text without "://", which is the same as
// no origin.
struct Parts {
  Bytes scheme;
  Bytes authority;
};

Parts parts_of(Bytes origin) noexcept {
  const std::size_t mark = origin.find("://");
  if (mark == Bytes::npos) return {};
  return {origin.substr(0, mark), origin.substr(mark + 3)};
}

}  // namespace

bool is_origin(Bytes text) noexcept {
  const auto [scheme, host] = parts_of(text);
  const bool is_plain = host.find_first_of("/?#@ ") == Bytes::npos && !host.empty();
  return !scheme.empty() && is_plain && all_are(text, value_character) &&
         std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool same_origin(Bytes left, Bytes right) noexcept {
  const Parts one = parts_of(left), other = parts_of(right);
  return !one.scheme.empty() && !one.authority.empty() &&
         equals_ignoring_case(one.scheme, other.scheme) &&
         same_authority(one.authority, other.authority, one.scheme);
}

bool is_origin_of(Bytes origin, Bytes authority, bool is_secure) noexcept {
  const Parts page = parts_of(origin);
  const bool is_https = equals_ignoring_case(page.scheme, "https");
  if (!is_https && (is_secure || !equals_ignoring_case(page.scheme, "http"))) return false;
  return !page.authority.empty() && same_authority(page.authority, authority, page.scheme);
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
