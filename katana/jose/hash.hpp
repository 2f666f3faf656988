// SHA-256, for texts that are compared by it.
//
// Thread     any.
// Allocates  what is returned.
// Fails      never.
#pragma once

#include <string>

#include "katana/base/bytes.hpp"

namespace katana::jose {

// 32 octets.
std::string sha256(Bytes text);

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
