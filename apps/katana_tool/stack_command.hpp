// katana stack: where the coroutines of a running program wait.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with a line that names the URL and the reason: status 1; status 2 for a wrong flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_stack_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
