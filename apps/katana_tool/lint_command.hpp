// katana lint: what compiles and is wrong all the same, in the sources of a project.
//
//   katana lint                      the C++ sources below the folder, without build*/ and
//                                    hidden folders
//   katana lint src/app.cpp tests    files and folders
//
// Owns       nothing.
// Thread     one.
// Allocates  one source at a time, and the findings.
// Fails      status 1: there is a finding; status 2: a file cannot be read.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_source_lint_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
