#include "katana/service/middleware/origin.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"

namespace katana {

bool is_origin(Bytes text) noexcept {
  const std::size_t mark = text.find("://");
  if (mark == Bytes::npos || mark == 0) return false;
  const Bytes host = text.substr(mark + 3);
  const bool is_plain = host.find_first_of("/?#@ ") == Bytes::npos && !host.empty();
  return is_plain && http::all_are(text, http::value_character) &&
         std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_origin_of(Bytes origin, Bytes authority) noexcept {
  Bytes port;
  if (origin.starts_with("https://")) {
    origin.remove_prefix(8);
    port = ":443";
  } else if (origin.starts_with("http://")) {
    origin.remove_prefix(7);
    port = ":80";
  } else {
    return false;
  }
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  if (origin.ends_with(port)) origin.remove_suffix(port.size());
  return !origin.empty() && http::equals_ignoring_case(origin, authority);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
