// katana routes, katana config: asks the program of the project here.
//
//   katana routes                      its routes
//   katana config print|check|schema   its configuration, what is wrong with it, its JSON Schema
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      when there is no program: a line that says how to build it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "katana/base/system/result.hpp"

namespace katana::tool {

// The name in project(NAME …) of the CMakeLists.txt here.
Result<std::string> project_name();

// Adds the subcommands; when one is given, `chosen` is set to its action.
void add_program_commands(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
