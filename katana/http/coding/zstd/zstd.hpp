// The codec of zstd (RFC 8878), for the sets that name it.
//
// Owns       nothing.
// Thread     any.
// Allocates  in its encoders and decoders; see encoder.hpp, decoder.hpp.
// Fails      as its encoders and decoders.
#pragma once

#include "katana/http/coding/codec.hpp"

namespace katana::coding {

// RFC 8878, by libzstd: "zstd".
Codec zstd() noexcept;

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
