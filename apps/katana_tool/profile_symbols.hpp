// Functions and lines of source for the places of a profile.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      as Symbols. Modules without symbols are no failure: the sentences name them.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::tool {

// Sets the lines of the places. Returns a sentence for each module without symbols.
Result<std::vector<std::string>> symbolise(profile::Profile& profile,
                                           const std::string& debug_folder);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
