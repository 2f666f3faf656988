// check(): compares the statements of a target with its databases, or with sql.lock.
//
// Owns       its findings.
// Thread     one.
// Allocates  yes.
// Fails      an Error: it could not be checked. Mistakes of statements are in a Report.
// Invariant  findings are in the order of their places, each once, whatever order objects and
//            sources have.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana_tool/sql/findings.hpp"
#include "katana_tool/sql/lock_file.hpp"
#include "katana_tool/sql/target.hpp"

namespace katana::tool::sql {

struct CheckOptions {
  bool update = false;        // asks the databases, and gives a new lock
  std::string database = {};  // URL of PostgreSQL; empty: one is started
};

struct Report {
  std::vector<Finding> findings;
  std::size_t statements = 0;  // checked statements, once for each dialect
  LockFile lock;               // the result of an update
};

Result<Report> check(const Target& target, const CheckOptions& options);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
