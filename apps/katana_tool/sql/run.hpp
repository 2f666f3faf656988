// A run of the check: reads targets, prints their findings, and returns the status of the process.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      status 1: something is wrong with a statement; status 2: it could not be checked.
#pragma once

#include <string>
#include <vector>

namespace katana::tool::sql {

// The command line of `katana sql check`.
struct RunOptions {
  // Files that katana_check_sql() wrote; none: all below `build`.
  std::vector<std::string> targets;
  std::string build = "build";
  // URL of a PostgreSQL to ask; empty: one is started.
  std::string database;
  // File that is written if there is no error; empty: none.
  std::string stamp;
  bool update = false;
  bool warnings_as_errors = false;
  bool json = false;
};

// Returns the status of the process.
int run_check(const RunOptions& options);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
