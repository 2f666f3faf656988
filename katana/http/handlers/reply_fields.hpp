// Functions for middleware that read the present fields of a reply.
//
// Owns       nothing.
// Borrows    the lines, as Reply::fields() gives them.
// Thread     any.
// Allocates  never, except for add_vary().
// Fails      never.
#pragma once

#include <algorithm>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana {

// The value of the first field of that name, ignoring case. A view into `lines`: adding a field to
// the reply moves them.
std::optional<Bytes> find_field(Bytes lines, Bytes name) noexcept;

// Calls each(name, value, line); a line has its CRLF.
template <class Each>
void for_each_line(Bytes lines, Each&& each) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const Bytes line = lines.substr(0, std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon != Bytes::npos) {
      Bytes value = line.substr(colon + 1, end - colon - 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      each(line.substr(0, colon), value, line);
    }
    lines.remove_prefix(line.size());
  }
}

// True for fields of replies whose value is no list: a reply has each of them at most once (RFC
// 9110 §5.3). Those that the protocol sets itself are not among them.
bool is_single_field(Bytes name) noexcept;

// Adds a field name to Vary, unless a Vary of the reply has the name, or "*".
void add_vary(Reply& reply, Bytes name);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
