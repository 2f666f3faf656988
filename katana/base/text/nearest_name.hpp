// nearest_name: finds the name that was probably meant by a mistyped one, for "did you mean".
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

// The number of characters to insert, remove, replace or swap with their neighbour. It ignores the
// case of ASCII letters. Names of more than 40 bytes have the distance 40.
std::size_t edit_distance(Bytes from, Bytes to) noexcept;

// The first of the names with the smallest distance from `typed`. Empty if none is near. A third of
// `typed` may differ, and at least one character, but not all of them.
std::string_view nearest_name(Bytes typed, std::span<const std::string_view> names) noexcept;

// The text "; did you mean 'port'?" to append to a message; empty if none is near.
std::string nearest_hint(Bytes typed, std::span<const std::string_view> names);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
