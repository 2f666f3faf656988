// nearest_name: the name that was meant by a mistyped one, for messages with "did you mean".
//
// Owns       nothing: nearest_name() is one of the given names.
// Thread     any.
// Allocates  the text of nearest_hint().
// Fails      never.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "katana/base/text/bytes.hpp"

namespace katana {

// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
// ASCII letters count as equal in both cases. Names of more than 40 bytes are at distance 40.
std::size_t edit_distance(Bytes from, Bytes to) noexcept;

// The name at the least distance from `typed`, and of several the first one. Empty if none is
// near: a third of `typed` may differ, and at least one character, but not all of them.
std::string_view nearest_name(Bytes typed, std::span<const std::string_view> names) noexcept;

// "; did you mean 'port'?", to append to a message; empty if none is near.
std::string nearest_hint(Bytes typed, std::span<const std::string_view> names);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
