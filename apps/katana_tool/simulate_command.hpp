// katana simulate: runs the worlds of a test program (testing::simulate) over many seeds, in a
// process for each core, and prints what fails.
//
// Owns       its processes, and the folder of their outputs.
// Thread     one.
// Allocates  freely.
// Fails      status 1 for a finding, a program that failed otherwise or that has no world, and for
//            a program that cannot be run; status 2 for a wrong flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_simulate_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
