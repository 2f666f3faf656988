// Statements of SQLite alone. The expected finding of a line stands below it.
#include <cstdint>
#include <string>
#include <tuple>

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

katana::Task<void> json_in_sqlite(katana::database::Database& db) {
  (void)co_await db.query_one<std::string>(
      "SELECT json_object('id', id, 'email', email, 'totals',"
      " (SELECT json_group_array(total) FROM orders WHERE user_id = users.id))"
      " FROM users WHERE id = $1",
      1);
  (void)co_await db.query_one<std::tuple<std::string, std::int64_t>>(
      "SELECT (SELECT json_group_array(o.total) FROM orders o WHERE o.user_id = u.id),"
      " coalesce(u.email, 1) FROM users u WHERE u.id = $1",
      1);
  (void)co_await db.query_one<std::string>("SELECT json(email) AS j FROM users WHERE id = $1", 1);
  // want unproved_null: column 'j'
  (void)co_await db.query_one<std::tuple<std::int64_t, std::string>>(
      "SELECT count(*), name FROM users WHERE id = $1", 1);
  // want null_column: an aggregate of no rows leaves users.name out
}

}  // namespace sql_check

// SPDX-License-Identifier: Apache-2.0
