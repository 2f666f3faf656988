// katana doctor: what is wrong with a running program or near a limit, and what to do about it.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      status 1 with findings, or when the program cannot be asked; status 2 for a wrong
//            command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_doctor_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
