// Folded stacks: a line for each stack, "GET /notes;main;serve;read 42". The functions go from the
// outermost to the innermost; the number is how often the stack was found. The first name is the
// route. Scripts for flame graphs and profile viewers read it.
//
// Thread     any.
// Allocates  about twice the text.
// Fails      never.
// Invariant  a name has neither ';' nor line ends: they become ':' and '?'. Lines are sorted, and
//            no stack has two.
#pragma once

#include <cstddef>
#include <string>

#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// The longest text.
inline constexpr std::size_t folded_bytes_max = std::size_t{32} << 20;

// See above. The text has at most folded_bytes_max bytes.
std::string to_folded(const Profile& profile);
// The rarest stacks beyond `bytes_max` are one line for each route: "GET /notes;(left out) 7".
std::string to_folded_within(const Profile& profile, std::size_t bytes_max);

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
