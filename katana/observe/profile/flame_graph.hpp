// Flame graph: a profile as one HTML page that needs no other file. It has a chart of all stacks,
// and a table of the functions that use most time themselves.
//
// The first row is everything. Each row below has the functions that the row above called, as wide
// as their time. The page works without its script. With it, Enter or a click shows one function
// and its calls in full width, arrows move, Escape goes back, and a search marks functions.
//
// Thread     any.
// Allocates  the text.
// Fails      never.
// Invariant  the page loads nothing and sends nothing, which its content security policy enforces.
//            No name in the profile becomes markup.
#pragma once

#include <string>

#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// Boxes with less than this part of the time are left out.
inline constexpr double box_part_min = 0.0004;

// See above. In UTF-8.
std::string flame_graph_page(const Profile& profile);
// The page's content security policy, for a header. The page has it as an element, too.
const std::string& flame_graph_policy();

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
