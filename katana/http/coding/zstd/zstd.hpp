// The codec of zstd (RFC 8878), for the sets that name it.
//
// Owns       nothing.
// Thread     any.
// Allocates  what it makes does; see encoder.hpp, decoder.hpp.
// Fails      likewise.
#pragma once

#include "katana/http/coding/codec.hpp"

namespace katana::coding {

// RFC 8878, by libzstd: "zstd".
Codec zstd() noexcept;

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
