// katana log: prints the output of the binary sink, as text or as JSON lines. Also called
// katana-log.
//
// Owns       the files that it reads.
// Thread     one.
// Allocates  freely.
// Fails      with a line that names the file and the reason; status 1.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_log_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
