// katana dev: builds and runs the program of a project, again and again as its files change.
//
//   katana dev --port 8080            in the folder of the project
//
// This command opens the port once and hands it to each run of the program, as service managers do
// (LISTEN_FDS). Connections wait between two runs instead of being refused. The present program
// runs on while a new one is built; a build that fails leaves it running.
//
// Owns       the listening socket, and the processes that it starts.
// Thread     one.
// Allocates  freely.
// Fails      wrong flags, a port in use, a folder without a project: one line. A build that fails
//            or a program that ends is reported, and the command waits for the next change.
// Invariant  no process that it started outlives it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace katana::tool {

// Adds the subcommand; when it is given, `run` is set to its action.
void add_dev_command(CLI::App& app, std::function<int()>& run);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
