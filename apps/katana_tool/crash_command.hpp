// katana crash: prints a crash report with functions and lines of source.
//
// Owns       the file that it reads.
// Thread     one.
// Allocates  freely.
// Fails      with a line that names the file and the reason: status 1; status 2 for a wrong flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_crash_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
