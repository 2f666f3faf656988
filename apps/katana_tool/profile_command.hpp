// katana profile: makes a profile of a running program, names its functions, and writes a file.
//
// Owns       the file that it writes.
// Thread     one.
// Allocates  freely.
// Fails      with a line that names the program or the file and the reason: status 1; status 2 for
//            a wrong flag. A file that exists is replaced as a whole, or not at all.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_profile_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
