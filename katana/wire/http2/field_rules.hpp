// Rules of HTTP/2 fields, for requests, replies and trailers alike (RFC 9113 §8.2). A field that
// passes them has one meaning in HTTP/1.1 too.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http2 {

inline constexpr std::size_t field_overhead = 32;  // RFC 7541 §4.1
inline constexpr std::int64_t no_length = -1;      // the head has no Content-Length

// The result of reading a header block.
enum class HeadVerdict : std::uint8_t {
  accepted,   // the head is valid
  malformed,  // the stream is reset (RFC 9113 §8.1.1)
  refused,    // larger than is accepted, or asks for something that is not supported
  broken,     // COMPRESSION_ERROR
  bomb,       // far more than is accepted
};

// A token without upper case (RFC 9113 §8.2).
inline bool valid_name(Bytes name) noexcept {
  for (const char c : name) {
    if (!http::is(c, http::token_character) || (c >= 'A' && c <= 'Z')) return false;
  }
  return !name.empty();
}

// No control characters, no white space at either end.
inline bool valid_value(Bytes value) noexcept {
  if (!value.empty() && (http::is_blank(value.front()) || http::is_blank(value.back()))) {
    return false;
  }
  return http::all_are(value, http::value_character);
}

// Fields that are about a connection, which HTTP/2 does without (RFC 9113 §8.2.2).
inline bool is_about_connection(Bytes name) noexcept {
  switch (name.size()) {
    case 7: return name == "upgrade";
    case 10: return name == "connection" || name == "keep-alive";
    case 16: return name == "proxy-connection";
    case 17: return name == "transfer-encoding";
    default: return false;
  }
}

// Takes a Content-Length. False: the value is no length, or differs from the one in `length`.
inline bool take_content_length(Bytes value, std::int64_t& length) noexcept {
  if (value.empty() || value.size() > 18 || !http::all_are(value, http::digit_character)) {
    return false;
  }
  std::int64_t number = 0;
  for (const char c : value) number = number * 10 + (c - '0');
  if (length != no_length && length != number) return false;
  length = number;
  return true;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
