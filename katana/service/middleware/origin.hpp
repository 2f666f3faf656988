// Origins, as browsers send them in the field Origin (RFC 6454 §6.2).
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include "katana/base/bytes.hpp"

namespace katana {

// scheme "://" host [":" port], in small letters and without a path.
bool is_origin(Bytes text) noexcept;
// Host and port of the origin are those of the request, whose authority may say a default port.
// The scheme is not compared: behind a proxy the server does not see it.
bool is_origin_of(Bytes origin, Bytes authority) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
