#include "katana/http/handlers/reply_fields.hpp"

#include <algorithm>

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
