// nearest_name: the name that was meant by a mistyped one, for messages with "did you mean".
//
// Owns       nothing: the result is one of the given names.
// Thread     any.
// Allocates  nothing.
// Fails      never.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "katana/base/text/bytes.hpp"

namespace katana {

// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
// ASCII letters count as equal in both cases. Names of more than 40 bytes are at distance 40.
std::size_t edit_distance(Bytes from, Bytes to) noexcept;

// The name at the least distance from `typed`, and of several the first one. Empty if none is
// near: a third of `typed` may differ, and at least one character.
std::string_view nearest_name(Bytes typed, std::span<const std::string_view> names) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
