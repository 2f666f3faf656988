// Escaping: converts untrusted bytes for a line of text, or for a JSON string.
//
// Thread     any.
// Allocates  only when the buffer grows.
// Fails      never.
// Invariant  escape_line writes only well-formed UTF-8, and no control character. It writes nothing
//            that changes the order or position of other characters (bidirectional controls, line
//            separators, zero-width characters). A record can neither end its line, nor steer a
//            terminal, nor look like another one. The function escape_json writes only characters
//            that may stand between the quotes of a JSON string (RFC 8259 §7).
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/log/plan.hpp"

namespace katana::log {

// The number of bytes at the front of `text` that are printable ASCII, except `"` and `\`.
std::size_t plain_prefix(Bytes text) noexcept;
// Whether the text is not empty and all plain, without a space or `=`: it needs no quotes behind
// `name=`.
bool is_word(Bytes text) noexcept;

// Control characters become \n, \r, \t or \xNN, bytes that are not UTF-8 become \xNN, and invisible
// characters \u{NNNN}.
void escape_line(Bytes text, Buffer& out);
// As escape_line, and escapes `"` and `\` too: for quoted text.
void escape_quoted(Bytes text, Buffer& out);
// Bytes that are not UTF-8 become U+FFFD.
void escape_json(Bytes text, Buffer& out);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
