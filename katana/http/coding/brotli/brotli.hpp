// The codec of brotli (RFC 7932), "br", for the sets that name it.
//
// Owns       nothing.
// Thread     any.
// Allocates  in its encoders and decoders; see encoder.hpp, decoder.hpp.
// Fails      as its encoders and decoders.
#pragma once

#include "katana/http/coding/codec.hpp"

namespace katana::coding {

// RFC 7932, by the library of Google: "br".
Codec brotli() noexcept;

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
