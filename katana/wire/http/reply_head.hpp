// ReplyHead: the part of a reply that a handler decides, apart from its content. It is the same for
// every version of HTTP.
//
// Owns       nothing; everything is borrowed for the call that writes it.
// Invariant  `fields` is empty or complete lines "name: value" CRLF that passed valid_field():
//            no value set by a handler can begin another line (response splitting).
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http {

// The length of the body is not known when the head is written.
inline constexpr std::int64_t unknown_length = -1;

struct ReplyHead {
  unsigned status = 200;                         // three digits
  Bytes content_type;                            // empty: no Content-Type field
  Bytes fields;                                  // of the handler; complete lines
  std::int64_t content_length = unknown_length;  // bytes of the body
  Bytes more_fields = {};  // as `fields`: added by the sender of the reply, not by its handler
};

// RFC 9110 §5.1 and §5.5: a token, and a value without CR, LF, NUL or other controls and without
// white space around it.
constexpr bool valid_field(Bytes name, Bytes value) noexcept {
  if (name.empty() || !all_are(name, token_character) || !all_are(value, value_character))
    return false;
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  return value.empty() || (!is_space(value.front()) && !is_space(value.back()));
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
