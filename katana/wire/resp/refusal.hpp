// Refusal: why a reply of a server is not accepted. Each is the server's doing, or of somebody on
// the way to it; where the next reply begins cannot be known after it.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::resp {

enum class Refusal : std::uint8_t {
  none,               // nothing is refused
  unknown_type,       // often no Redis at the other end
  bad_line_end,       // of any line
  bad_number,         // of integer, number, big_number
  bad_length,         // of strings and aggregates
  bad_boolean,        // RESP3 alone
  bad_null,           // RESP3 alone
  bad_verbatim,       // RESP3 alone
  bad_string_end,     // where CRLF has to be
  streamed,           // RESP3 has them, Redis does not send them
  misplaced_push,     // RESP3 alone
  line_too_long,      // Limits
  too_deep,           // Limits
  too_many_elements,  // Limits
  too_large,          // Limits
  count_,             // how many there are; no refusal
};

// By Refusal.
inline constexpr std::array<Bytes, static_cast<std::size_t>(Refusal::count_)> refusal_texts = {
    "",
    "a value begins with a byte that stands for no type of RESP",
    "a line has a bare CR or LF, and not CRLF at its end",
    "a number is none, or does not fit its type",
    "a length is none, or negative",
    "a boolean is neither #t nor #f",
    "a null has something in its line",
    "a verbatim string does not begin with the three bytes of its format and a colon",
    "a string is longer or shorter than it said",
    "a string or an aggregate is streamed, without a length",
    "a push or an attribute stands within another value, or where no value can follow",
    "a line is longer than line_bytes_max",
    "aggregates are nested deeper than depth_max",
    "a reply has more than elements_max elements",
    "a reply is larger than reply_bytes_max",
};

// For messages; of `none` empty. REQUIRES less than count_.
constexpr Bytes text_of(Refusal refusal) noexcept {
  return refusal_texts[static_cast<std::size_t>(refusal)];
}

}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
