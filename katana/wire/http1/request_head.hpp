// RequestHead: a request's head as bytes, as a client sends it (RFC 9112 §3, §6.3).
//
// Owns       nothing; everything is borrowed for the call that writes it.
// Thread     any.
// Allocates  never; the caller brings request_head_bytes_max() bytes of room.
// Fails      is_sendable() is false for parts that would not make one head. A caller that lets
//            others choose method, target or fields asks before it writes.
// Invariant  the bytes that are written are one head: no part of a sendable head can begin a line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::http1 {

struct RequestHead {
  Bytes method = "GET";  // a token
  Bytes target = "/";    // path and query; with a proxy a whole URL
  Bytes host;            // value of Host
  Bytes fields = {};     // complete lines "name: value" CRLF that passed http::valid_field()
  std::int64_t content_length = http::unknown_length;  // that: no Content-Length is sent
  bool close = false;                                  // it is the last on its connection
};

// `fields` is not looked at.
bool is_sendable(const RequestHead& head) noexcept;

// Room that write_request_head() needs.
std::size_t request_head_bytes_max(const RequestHead& head) noexcept;

// Returns its end. REQUIRES is_sendable(head).
char* write_request_head(char* to, const RequestHead& head) noexcept;

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
