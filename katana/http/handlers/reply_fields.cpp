#include "katana/http/handlers/reply_fields.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana {

std::optional<Bytes> find_field(Bytes lines, Bytes name) noexcept {
  while (!lines.empty()) {
    const Bytes line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
    const std::size_t colon = line.find(": ");
    if (colon != Bytes::npos && http::equals_ignoring_case(line.substr(0, colon), name)) {
      return line.substr(colon + 2);
    }
  }
  return std::nullopt;
}

bool is_single_field(Bytes name) noexcept {
  // RFC 9110, RFC 9111 (Age, Expires), RFC 6266, RFC 6797, Fetch (Access-Control-*), RFC 7034.
  constexpr std::array<Bytes, 14> names = {"Access-Control-Allow-Credentials",
                                           "Access-Control-Allow-Origin",
                                           "Access-Control-Max-Age",
                                           "Age",
                                           "Content-Disposition",
                                           "Content-Location",
                                           "Content-Range",
                                           "ETag",
                                           "Expires",
                                           "Last-Modified",
                                           "Location",
                                           "Retry-After",
                                           "Strict-Transport-Security",
                                           "X-Frame-Options"};
  return std::ranges::any_of(names,
                             [&](Bytes each) { return http::equals_ignoring_case(name, each); });
}

void add_vary(Reply& reply, Bytes name) {
  bool has_it = false;
  for_each_line(reply.fields(), [&](Bytes field, Bytes value, Bytes) {
    if (!http::equals_ignoring_case(field, "vary")) return;
    has_it |= value == "*" || http::list_contains_token(value, name);
  });
  if (!has_it) reply.add_field("Vary", name);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
