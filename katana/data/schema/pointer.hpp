// JSON pointers (RFC 6901), written.
//
// Thread     any.
// Allocates  the result.
// Fails      never.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::schema {

// A name as a step of a pointer: "a/b" as "a~1b".
std::string escaped(Bytes name);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
