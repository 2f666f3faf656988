// Request heads as header blocks, see block_writer.hpp. A block does not depend on the connection:
// a caller may write it once and send it on many.
//
// Owns       nothing; everything is borrowed for the call that writes it.
// Thread     any.
// Allocates  never; the caller brings request_bytes_max() bytes of room.
// Fails      is_sendable() is false for a head that no server would take for one request. A caller
//            that lets others choose method, target or authority asks before it writes.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::http2 {

// A request's head, as the pseudo-header fields and lines of it (RFC 9113 §8.3.1).
struct RequestHead {
  Bytes method = "GET";   // a token
  Bytes scheme = "http";  // "http" or "https"
  Bytes authority;        // host, with a port where it is not that of the scheme
  Bytes target = "/";     // path and query, or *; CONNECT has none
  Bytes fields = {};      // complete lines "name: value" CRLF that passed http::valid_field()
  std::int64_t content_length = http::unknown_length;  // that: none is announced
};

// `fields` is not looked at.
bool is_sendable(const RequestHead& head) noexcept;

// Room that put_request() needs.
std::size_t request_bytes_max(const RequestHead& head) noexcept;

// Writes the block and returns its end. CONNECT has an authority alone (RFC 9113 §8.5).
char* put_request(char* to, const RequestHead& head) noexcept;

// The size of the head as SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2), or a little more.
std::size_t listed_bytes(const RequestHead& head) noexcept;

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
