// The fields that a reply has so far, for middleware that looks at them.
//
// Owns       nothing.
// Borrows    the lines, as Reply::fields() gives them.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <optional>

#include "katana/base/bytes.hpp"

namespace katana {

// The value of the first field of that name, ignoring case. A view into `lines`: what is added to
// the reply moves them.
std::optional<Bytes> find_field(Bytes lines, Bytes name) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
