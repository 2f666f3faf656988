// katana sql check: the statements of a program, compared with its database before it runs.
//
//   katana sql check                         targets of build/ that katana_check_sql() names
//   katana sql check --update                and writes their sql.lock
//   katana sql check build/katana_sql/app.target --warnings-as-errors
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      status 1: something is wrong with a statement; status 2: it could not be checked.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_sql_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
