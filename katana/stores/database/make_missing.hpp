// make_missing(): runs statements that make missing objects, as "CREATE TABLE IF NOT EXISTS", while
// other instances of the program may do the same.
//
//   static constexpr SqlFor<> table("CREATE TABLE IF NOT EXISTS notes (id BIGINT PRIMARY KEY)");
//   std::vector<SqlFor<>> statements = {table};
//   const auto made = co_await database::make_missing(queries, std::move(statements));
//
// IF NOT EXISTS does not see a table that another session of PostgreSQL has made and not yet
// committed. The statement waits for that session and then fails in the catalog (unique_violation,
// or "already exists"). A second run finds the table: each statement is therefore run again.
//
// Owns       the list of statements.
// Borrows    the database, until the task ends.
// Thread     its executor's.
// Allocates  as Call does.
// Fails      with the Error of the statement that failed to the end.
// Invariant  statements run in their order, each at most make_attempts_max times. Statements that
//            succeeded are not undone. Not for a transaction of PostgreSQL: its first failure
//            ends it.
#pragma once

#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::database {

// One session at a time can block a statement, and has ended when the statement fails.
inline constexpr int make_attempts_max = 4;

// Each statement makes one object, and does nothing where that exists.
Task<Result<void>> make_missing(Queries queries, std::vector<SqlFor<>> statements);

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
