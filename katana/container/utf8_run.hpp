// is_utf8: whether text is UTF-8 from its first octet to its last.
//
// Thread     any.
// Allocates  never.
// Fails      never: ill-formed octets are a result.
#pragma once

#include "katana/base/bytes.hpp"

namespace katana::container {

bool is_utf8(Bytes text) noexcept;

}  // namespace katana::container
