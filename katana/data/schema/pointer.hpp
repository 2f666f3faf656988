// Writes JSON pointers (RFC 6901).
//
// Thread     any.
// Allocates  the result.
// Fails      never.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::schema {

// The form of a name in a pointer: "a~1b" for "a/b".
std::string escaped(Bytes name);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
