// The codec of brotli (RFC 7932), "br", for the sets that name it.
//
// Owns       nothing.
// Thread     any.
// Allocates  what it makes does; see encoder.hpp, decoder.hpp.
// Fails      likewise.
#pragma once

#include "katana/http/coding/codec.hpp"

namespace katana::coding {

// RFC 7932, by the library of Google: "br".
Codec brotli() noexcept;

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
