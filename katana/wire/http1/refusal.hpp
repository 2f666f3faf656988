// Refusal: why a request is not accepted, with the status that answers it and a sentence for the
// reply.
//
// The client causes every refusal (h11 calls it a remote error). A refusal ends the connection
// after the reply, because the start of the next request is no longer certain.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http1 {

// Why a request is refused. refusal_texts has the status and the sentence of each.
enum class Refusal : std::uint8_t {
  none,  // the request is acceptable
  bad_request_line,
  request_line_too_long,
  unsupported_version,
  bare_line_break,
  control_character,
  bad_field_line,
  white_space_before_colon,
  folded_field,
  head_too_long,
  too_many_fields,
  missing_host,
  repeated_host,
  bad_host,
  target_is_not_host,
  bad_content_length,
  repeated_content_length,
  length_and_encoding,
  last_coding_not_chunked,
  unknown_coding,
  encoding_in_http10,
  unknown_expectation,
  content_too_large,
  bad_chunk_size,
  chunk_line_too_long,
  bad_chunk_extension,
  bad_chunk_end,
  bad_trailer,
  trailer_too_long,
  head_timeout,
  content_timeout,
  input_ended,
  count_,
};

// Status and sentence that answer a Refusal.
struct RefusalText {
  std::uint16_t status;  // 4xx or 5xx
  Bytes detail;
};

// Status and sentence by Refusal.
inline constexpr std::array<RefusalText, static_cast<std::size_t>(Refusal::count_)> refusal_texts =
    {{
        {0, ""},
        {400, "The request line is not `method SP request-target SP HTTP-version` (RFC 9112 §3)."},
        {414, "The request line is longer than this server accepts (RFC 9112 §3)."},
        {505, "Only HTTP/1.1 and HTTP/1.0 are spoken here (RFC 9110 §15.6.6)."},
        {400, "A line ends in a bare CR or LF; lines end in CRLF (RFC 9112 §2.2)."},
        {400, "A control character stands in a line of text (RFC 9110 §5.5)."},
        {400, "A field line is not `name: value` with a token as its name (RFC 9112 §5)."},
        {400, "White space stands between a field name and its colon (RFC 9112 §5.1)."},
        {400,
         "A field line is folded onto the next one, or white space precedes the first (RFC 9112 "
         "§2.2, §5.2)."},
        {431, "The head is larger than this server accepts (RFC 6585 §5)."},
        {431, "The head has more fields than this server accepts (RFC 6585 §5)."},
        {400, "An HTTP/1.1 request needs a Host field (RFC 9112 §3.2)."},
        {400, "There is more than one Host field (RFC 9112 §3.2)."},
        {400, "The Host field is not a host with an optional port (RFC 9112 §3.2)."},
        {400, "The request target and the Host field name different servers (RFC 9112 §3.2)."},
        {400,
         "Content-Length is not a decimal number that this server can count to (RFC 9112 §6.3)."},
        {400, "There is more than one Content-Length (RFC 9112 §6.3)."},
        {400, "Content-Length and Transfer-Encoding exclude each other (RFC 9112 §6.1)."},
        {400, "The last transfer coding is not chunked, so the length is unknown (RFC 9112 §6.3)."},
        {501, "A transfer coding other than chunked is not implemented (RFC 9112 §6.1)."},
        {400, "HTTP/1.0 has no Transfer-Encoding (RFC 9112 §6.1)."},
        {417, "The only expectation known here is 100-continue (RFC 9110 §10.1.1)."},
        {413, "The content is larger than this resource accepts (RFC 9110 §15.5.14)."},
        {400, "A chunk does not begin with its size in hexadecimal digits (RFC 9112 §7.1)."},
        {400, "A chunk's first line, with its extensions, is too long (RFC 9112 §7.1.1)."},
        {400,
         "A chunk's extension is not `;name`, with a token or a closed quoted string as its value "
         "(RFC 9112 §7.1.1)."},
        {400, "A chunk's data does not end in CRLF where its size says (RFC 9112 §7.1)."},
        {400, "A trailer field line is malformed (RFC 9112 §7.1.2)."},
        {431, "The trailer section is larger than this server accepts (RFC 6585 §5)."},
        {408, "The head did not arrive in time (RFC 9110 §15.5.9)."},
        {408, "The content did not arrive in time (RFC 9110 §15.5.9)."},
        {400, "The connection ended inside the request (RFC 9112 §8)."},
    }};

// Lives as long as the program.
constexpr const RefusalText& text_of(Refusal refusal) noexcept {
  return refusal_texts[static_cast<std::size_t>(refusal)];
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
