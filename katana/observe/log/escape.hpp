// Escaping: bytes from anywhere into a line of text, or into a JSON string.
//
// Thread     any.
// Allocates  only when the buffer grows.
// Fails      never.
// Invariant  escape_line writes no control character, nothing that changes the order or the place
//            of others (bidirectional controls, separators of lines, what has no width), and only
//            well-formed UTF-8: a record can neither end its line, nor steer a terminal, nor read
//            as another one. escape_json writes what may stand between
//            the quotes of a JSON string (RFC 8259 §7).
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/log/plan.hpp"

namespace katana::log {

// How many bytes of `text` from its front are printable ASCII without `"` and `\`.
std::size_t plain_prefix(Bytes text) noexcept;
// All of it is, it is not empty, and no space or `=` is in it: it needs no quotes behind `name=`.
bool is_word(Bytes text) noexcept;

// Control characters become \n, \r, \t or \xNN, bytes that are no UTF-8 \xNN, and characters that
// cannot be seen \u{NNNN}.
void escape_line(Bytes text, Buffer& out);
// As escape_line, and `"` and `\` are escaped too: for what stands in quotes.
void escape_quoted(Bytes text, Buffer& out);
// Bytes that are no UTF-8 become U+FFFD.
void escape_json(Bytes text, Buffer& out);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
