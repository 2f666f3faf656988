// make_missing(): runs statements that make what is not there yet, as "CREATE TABLE IF NOT EXISTS",
// while other instances of the program may do the same.
//
//   static constexpr SqlFor<> table("CREATE TABLE IF NOT EXISTS notes (id BIGINT PRIMARY KEY)");
//   std::vector<SqlFor<>> statements = {table};
//   const auto made = co_await database::make_missing(queries, std::move(statements));
//
// IF NOT EXISTS does not see what another session of PostgreSQL has made and not yet committed: the
// statement waits for that session and then fails in the catalog (unique_violation, or "already
// exists"). Run again it finds the table, so each statement is.
//
// Owns       the list of statements.
// Borrows    the database, until the task ends.
// Thread     its executor's.
// Allocates  as Call does.
// Fails      with the Error of the statement that failed to the end.
// Invariant  statements run in their order, each at most make_attempts_max times; what succeeded is
//            not undone. Not for a transaction of PostgreSQL, which its first failure ends.
#pragma once

#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::database {

// One session at a time can be in the way of a statement, and is gone when the statement fails.
inline constexpr int make_attempts_max = 4;

// Each statement makes one thing, and does nothing where that is there.
Task<Result<void>> make_missing(Queries queries, std::vector<SqlFor<>> statements);

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
