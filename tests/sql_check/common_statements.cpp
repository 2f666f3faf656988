// Statements that are right or wrong in the same way with every database. The expected finding of a
// line stands below it: `// want RULE: words of the message`; with want-above N: N lines above.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/database.hpp"
#include "sql_check/shared_statements.hpp"

namespace sql_check {
namespace {

using katana::Task;
using katana::Uuid;
using katana::database::Database;
using katana::database::Sql;
using katana::database::SqlFor;

struct User {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::string> email;
};
KATANA_DESCRIBE(User, id, name, email)

struct Misnamed {
  std::int64_t id = 0;
  std::string emial;
};
KATANA_DESCRIBE(Misnamed, id, emial)

struct WrongTypes {
  std::string id;
  std::int64_t name = 0;
};
KATANA_DESCRIBE(WrongTypes, id, name)

struct NoOptional {
  std::int64_t id = 0;
  std::string email;
};
KATANA_DESCRIBE(NoOptional, id, email)

struct Order {
  std::int64_t id = 0;
  std::optional<std::string> name;
};
KATANA_DESCRIBE(Order, id, name)

struct NewUser {
  std::int64_t id = 0;
  std::optional<std::string> name;
};
KATANA_DESCRIBE(NewUser, id, name)

constexpr Sql find_user = "SELECT id, name, email FROM users WHERE id = $1";
constexpr Sql broken =
    "SELECT id, name, email "
    "FROM users WHERE idd = $1";
// want refused: idd

namespace sums {
// katana: total is not null (there is an order of each user)
constexpr Sql of_user = "SELECT max(total) AS total FROM orders WHERE user_id = $1";
// katana: full scan is fine
constexpr Sql of_all{
    "SELECT coalesce(max(total), 0) AS highest FROM orders WHERE total < $1 AND total > 0 - 1"};
}  // namespace sums

Task<void> must(Database& db, SqlFor<std::int64_t> sql, std::int64_t id) {
  (void)co_await db.execute(sql, id);
}

template <class Id>
Task<void> find_by(Database& db, Id id) {
  (void)co_await db.query_one<User>("SELECT id, name, email FROM users WHERE id = $1 AND age = 1",
                                    id);
  // want-above 2 parameter_type: parameter $1 is
}

}  // namespace

Task<void> right(Database& db) {
  (void)co_await db.query<User>("SELECT id, name, email FROM users WHERE id > $1 LIMIT $2", 7, 10);
  (void)co_await db.query_one<User>(find_user, 7);
  (void)co_await db.execute(
      "INSERT INTO users (id, name, age, score, token) VALUES ($1, $2, 1, $3, $4)", 1, "ann", 1.5,
      Uuid());
  (void)co_await db.query_one<std::int64_t>("SELECT count(*) FROM orders WHERE user_id = $1", 1);
  (void)co_await db.query_one<std::tuple<std::int64_t, std::string>>(
      R"(SELECT id, lower(name) || '!'
         FROM users WHERE id = $1)",
      7);
  (void)co_await db.query<Order>(
      "SELECT o.id, u.name FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.id = $1", 3);
  (void)co_await db.query_one<std::string>("SELECT coalesce(email, name) FROM users WHERE id = $1",
                                           3);
  (void)co_await db.query_one<std::int64_t>(
      "SELECT max(total) AS total /* katana: total is not null */ FROM orders WHERE user_id = $1",
      3);
  // katana: full scan is fine
  (void)co_await db.query<User>("SELECT id, name, email FROM users WHERE age > $1", 18);
  // katana: not checked
  (void)co_await db.query<User>("SELECT id, name, email FROM made_at_run_time WHERE age > $1", 18);
  co_await must(db, "DELETE FROM users WHERE id = $1", 1);
}

Task<void> wrong_names(Database& db) {
  (void)co_await db.query<User>("SELECT id, name, email FROM usres WHERE id = $1", 1);
  // want refused: usres
  (void)co_await db.query<User>(
      "SELECT id, name, "
      "emial AS email FROM users WHERE id = $1",
      1);
  // want-above 2 refused: emial
  (void)co_await db.execute("UPDATE users SET name = $1 WERE id = $2", "ann", 1);
  // want refused: syntax error
  (void)co_await db.query<Misnamed>("SELECT id, email FROM users WHERE id = $1", 1);
  // want missing_column: no column 'emial'
  // want unused_column: column 'email' is selected
  (void)co_await db.query_one<User>(broken, 1);
  (void)co_await db.execute("COMMIT");
  // want refused: call begin()
  co_await must(db, "DELETE FROM userss WHERE id = $1", 1);
  // want refused: userss
}

Task<void> wrong_types(Database& db) {
  (void)co_await db.query<WrongTypes>(R"(
      SELECT id,
             name
      FROM users WHERE id = $1)",
                                      1);
  // want-above 4 column_type: column 'id' is
  // want-above 3 column_type: WrongTypes::name is std::int64_t
  (void)co_await db.query_one<std::string>("SELECT age FROM users WHERE id = $1", 1);
  // want column_type: the value that is read is std::string
  (void)co_await db.query_one<std::int64_t>("SELECT score FROM users WHERE id = $1", 1);
  // want column_type: column 'score' is
  (void)co_await db.query_one<std::tuple<std::int64_t, std::int64_t>>(
      "SELECT id, name FROM users WHERE id = $1", 1);
  // want column_type: element 1 of the tuple is std::int64_t
  (void)co_await db.query_one<std::vector<std::byte>>("SELECT name FROM users WHERE id = $1", 1);
  // want column_type: make it std::string
  (void)co_await db.query<User>("SELECT id, name, email FROM users WHERE id = $1", "one");
  // want parameter_type: for column 'id', and the call gives std::string
  (void)co_await db.execute(
      "INSERT INTO users (id, name, age, score, token) VALUES ($1, $2, $3, 1.0, $4)", 1, 2, 3,
      Uuid());
  // want-above 2 parameter_type: parameter $2 is text for column 'name'
  (void)co_await db.execute("UPDATE users SET photo = $2 WHERE id = $1", 1, "text");
  // want parameter_type: give std::vector<std::byte>
  co_await find_by(db, 1);
  co_await find_by(db, std::string("one"));
}

Task<void> wrong_nulls(Database& db) {
  (void)co_await db.query<NoOptional>("SELECT id, email FROM users WHERE id = $1", 1);
  // want null_column: column 'email' may be null (users.email is not NOT NULL)
  (void)co_await db.query_one<std::string>(
      "SELECT u.name FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.id = $1", 1);
  // want null_column: an outer join
  (void)co_await db.query_one<std::int64_t>("SELECT max(id) AS a FROM orders WHERE user_id = $1",
                                            1);
  // want-above 2 unproved_null: say 'katana: a is not null'
  (void)co_await db.query_one<std::string>(
      "SELECT (SELECT name FROM users WHERE id = o.user_id) AS a FROM orders o WHERE id = $1", 1);
  // want unproved_null: column 'a' may be null
  (void)co_await db.execute(
      "INSERT INTO users (id, name, age, score, token) VALUES ($1, $2, 1, 1.0, $3)", NewUser(),
      Uuid());
  // want-above 2 null_parameter: column 'name' is NOT NULL
  (void)co_await db.execute("UPDATE users SET age = $2 WHERE id = $1", 1, std::optional<int>());
  // want null_parameter: parameter $2 may be null
}

Task<void> wrong_shapes(Database& db) {
  (void)co_await db.query_one<std::int64_t>("SELECT id, age FROM users WHERE id = $1", 1);
  // want column_count: one value is read, and the result has 2 columns
  (void)co_await db.query_one<std::tuple<std::int64_t>>("SELECT id, name FROM users WHERE id = $1",
                                                        1);
  // want-above 2 column_count: the tuple has 1 elements
  (void)co_await db.query<User>("DELETE FROM users WHERE id = $1", 1);
  // want no_rows: add RETURNING
  (void)co_await db.query<User>("SELECT id, name, email, age FROM users WHERE id = $1", 1);
  // want unused_column: column 'age' is selected
  (void)co_await db.query<User>("SELECT u.id, u.name, u.email, u.* FROM users u WHERE id = $1", 1);
  // want select_star: name the columns
  // want unused_column: column 'age'
  // want unused_column: column 'score'
  // want unused_column: column 'photo'
  // want unused_column: column 'token'
  // want unused_column: column 'id'
  // want unused_column: column 'name'
  // want unused_column: column 'email'
  (void)co_await db.query<User>("SELECT id, name, email FROM users WHERE age > $1", 18);
  // want full_scan: table 'users'
  auto all = db.stream<User>("SELECT id, name, email FROM users");
  // want full_scan: table 'users'
}

Task<void> of_one_name(Database& db) {
  constexpr Sql sql = "SELECT id, name, email FROM users WHERE idd = $1";
  // want refused: idd
  (void)co_await db.query_one<User>(sql, 1);
}

Task<void> of_the_same_name(Database& db) {
  constexpr Sql sql = "SELECT id, name, email FROM users WHERE id = $1";
  (void)co_await db.query_one<User>(sql, 1);
}

Task<void> with_comments_at_the_constant(Database& db) {
  (void)co_await db.query_one<std::int64_t>(sums::of_user, 1);
  (void)co_await db.query_one<std::int64_t>(sums::of_all, 1);
  constexpr Sql no_comment = "SELECT max(total) AS total FROM orders WHERE user_id = $1";
  // want unproved_null: column 'total'
  (void)co_await db.query_one<std::int64_t>(no_comment, 1);
}

Task<void> never_null(Database& db) {
  (void)co_await db.query_one<std::tuple<std::int64_t, std::int64_t, bool>>(
      "SELECT (SELECT count(*) FROM orders WHERE user_id = u.id),"
      " coalesce((SELECT max(total) FROM orders WHERE user_id = u.id), 0),"
      " EXISTS (SELECT 1 FROM orders WHERE user_id = u.id) FROM users u WHERE u.id = $1",
      1);
}

// The compiler's output for these does not tell them apart; each has to fit one, and does.
Task<void> of_one_length(Database& db, std::int64_t id, std::string name) {
  (void)co_await db.query_one<User>("SELECT id, name, email FROM users WHERE email = $1", name);
  (void)co_await db.query_one<User>("SELECT id, name, email FROM users WHERE    id = $1", id);
  (void)co_await db.query_one<User>("SELECT id, name, email FROM users WHERE    id <= $1", id);
  (void)co_await db.query_one<User>("SELECT id, name, email FROM users WHERE  email= $1 ", id);
  // want parameter_type: for column 'email', and the call gives std::int64_t
}

}  // namespace sql_check

// SPDX-License-Identifier: Apache-2.0
