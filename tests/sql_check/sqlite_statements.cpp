// Statements of SQLite alone. What is to be found at a line stands below it.
#include <cstdint>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/database.hpp"

namespace sql_check {

katana::Task<void> wrong_in_sqlite(katana::database::Database& db) {
  (void)co_await db.query_one<std::int64_t>("SELECT id FROM users WHERE id = $2", 1, 2);
  // want unused_parameter: parameter $1 is not used
  (void)co_await db.execute("DELETE FROM users WHERE id = 1; DELETE FROM orders WHERE id = 1");
  // want refused: more than one statement
  (void)co_await db.query_one<std::int64_t>("SELECT \"aeg\" FROM users WHERE id = 1");
  // want refused: no such column: aeg
  (void)co_await db.query_one<std::int64_t>("SELECT count(*) FROM users");
  // want full_scan: table 'users'
}

}  // namespace sql_check

// SPDX-License-Identifier: Apache-2.0
