// katana dev: builds and runs the program of a project, again and again as its files change.
//
//   katana dev --port 8080            in the folder of the project
//
// The port is opened once, by this command, and handed to each run of the program as service
// managers do (LISTEN_FDS): between two runs connections wait instead of being refused. While it is
// built the program that runs goes on; a build that fails leaves it running.
//
// Owns       the listening socket, and the processes that it starts.
// Thread     one.
// Allocates  freely.
// Fails      wrong flags, a port in use, a folder without a project: one line. A build that fails
//            and a program that ends are said, and the next change is waited for.
// Invariant  no process that it started outlives it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace katana::tool {

// Adds the subcommand; `run` is set to what is to be done when it is given.
void add_dev_command(CLI::App& app, std::function<int()>& run);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
