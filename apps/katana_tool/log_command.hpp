// katana log: prints what the binary sink wrote, as text or as JSON lines. Also called
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

// Adds the subcommand; `chosen` is set to what is to be done when it is given.
void add_log_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
