// katana migrate: brings an SQLite file to the form that a folder of migrations describes. Also
// called katana-migrate.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with a line that names the file and the reason; status 1.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_migrate_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
