// output_of(): runs a program and returns its standard output.
//
// Owns       nothing.
// Thread     one.
// Allocates  the output.
// Fails      unavailable: it cannot be started, or ends with another status than 0. Its standard
//            error goes to that of the tool.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::tool {

// `words`: the program, found on PATH unless it has a '/', and its arguments. `remedy` ends the
// message when the program cannot be run.
Result<std::string> output_of(const std::vector<std::string>& words, const std::string& remedy);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
