// katana simulate: runs the worlds of a test program (testing::simulate) over many seeds, in a
// process for each core, and prints what fails.
//
// Owns       its processes, and the folder of their outputs.
// Thread     one.
// Allocates  freely.
// Fails      status 1 for a finding, and for a program that fails otherwise, that has no world or
//            that cannot be run. Status 2 for a wrong flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_simulate_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
