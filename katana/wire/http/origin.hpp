// Origins, as browsers send them in the field Origin (RFC 6454 §6.2): the one home of what is the
// same origin, for CSRF, CORS and WebSocket handshakes.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: what is no origin is the same as none.
// Invariant  a port that is missing is that of the scheme (RFC 6454 §4), on both sides.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// scheme "://" host [":" port], in small letters and without a path: as a browser writes it.
bool is_origin(Bytes text) noexcept;
// Scheme, host and port, ignoring case.
bool same_origin(Bytes left, Bytes right) noexcept;
// Whether a page of this origin is one of the server that the request names. `is_secure`: the
// request is known to have come by TLS, so its pages do too; otherwise the scheme is that of the
// origin, as a proxy in front may have taken TLS off.
bool is_origin_of(Bytes origin, Bytes authority, bool is_secure) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
