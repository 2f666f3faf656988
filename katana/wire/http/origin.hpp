// Origins, as browsers send them in the field Origin (RFC 6454 §6.2). CSRF, CORS and WebSocket
// handshakes compare origins by these functions.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: text that is no origin is the same as no text.
// Invariant  a port that is missing is that of the scheme (RFC 6454 §4), on both sides.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// scheme "://" host [":" port], in small letters and without a path: as a browser writes it.
bool is_origin(Bytes text) noexcept;
// Scheme, host and port, ignoring case.
bool same_origin(Bytes left, Bytes right) noexcept;
// Whether the server that the request names serves the pages of this origin. `is_secure`: the
// request is known to have come by TLS, and the origin must be https. Otherwise any scheme of the
// origin counts, because a proxy in front may have taken TLS off.
bool is_origin_of(Bytes origin, Bytes authority, bool is_secure) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
