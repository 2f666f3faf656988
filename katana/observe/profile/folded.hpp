// Folded stacks: a line for each stack, "GET /notes;main;serve;read 42". The functions go from the
// outermost to the innermost; the number is how often the stack was found. The first name is the
// route. Scripts for flame graphs and profile viewers read it.
//
// Thread     any.
// Allocates  the text.
// Fails      never.
// Invariant  a name has neither ';' nor line ends: they become ':' and '?'. Lines are sorted, and
//            no stack has two.
#pragma once

#include <string>

#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// See above.
std::string to_folded(const Profile& profile);

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
