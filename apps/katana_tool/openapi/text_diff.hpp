// text_diff(): two texts beside one another, as `diff -u` shows them.
//
// Owns       its result.
// Thread     any.
// Allocates  in proportion to the product of the lines that differ, at most 64 MiB.
// Fails      never: where that would be more, all that differs is one hunk.
#pragma once

#include <string>
#include <string_view>

namespace katana::tool {

// Empty: they are the same. Three lines of context.
std::string text_diff(std::string_view before, std::string_view after);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
