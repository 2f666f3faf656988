#include "lab/e2e/users.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "katana/base/thread/loop.hpp"
#include "katana/http/handlers/json.hpp"

namespace e2e {
namespace {

using namespace katana;
using database::Database;

struct Page {
  std::int64_t limit = 20;
  std::int64_t after = 0;
};
KATANA_DESCRIBE(Page, limit, after)

struct Range {
  std::int64_t from = 1;
  std::int64_t count = 0;
};
KATANA_DESCRIBE(Range, from, count)

struct Report {
  std::int64_t users = 0;
  std::int64_t bytes = 0;
};
KATANA_DESCRIBE(Report, users, bytes)

Task<Result<Json<std::vector<User>>>> list(Database& db, std::int64_t limit, std::int64_t after) {
  auto users = co_await db.query<User>(
      "SELECT id, name, email FROM users WHERE id > $1 ORDER BY id LIMIT $2", after, limit);
  if (!users) co_return std::unexpected(users.error());
  co_return Json<std::vector<User>>{std::move(*users)};
}

Task<Result<Json<User>>> find(Database& db, std::int64_t id) {
  auto user = co_await db.query_one<User>("SELECT id, name, email FROM users WHERE id = $1", id);
  if (!user) co_return std::unexpected(user.error());
  if (!*user) co_return fail(Code::not_found, "There is no such user.");
  co_return Json<User>{std::move(**user)};
}

Task<Result<Created<User>>> add(Database& db, NewUser user) {
  auto id = co_await db.query_one<std::int64_t>(
      "INSERT INTO users (name, email) VALUES ($1, $2) RETURNING id", user.name, user.email);
  if (!id) co_return std::unexpected(id.error());
  const std::int64_t given = **id;
  co_return Created<User>{{given, std::move(user.name), std::move(user.email)},
                          "/users/" + std::to_string(given)};
}

Task<Result<Json<User>>> replace(Database& db, std::int64_t id, NewUser user) {
  const auto changed = co_await db.execute("UPDATE users SET name = $2, email = $3 WHERE id = $1",
                                           id, user.name, user.email);
  if (!changed) co_return std::unexpected(changed.error());
  if (*changed == 0) co_return fail(Code::not_found, "There is no such user.");
  co_return Json<User>{{id, std::move(user.name), std::move(user.email)}};
}

Task<Result<Reply>> remove(Database& db, std::int64_t id) {
  const auto changed = co_await db.execute("DELETE FROM users WHERE id = $1", id);
  if (!changed) co_return std::unexpected(changed.error());
  if (*changed == 0) co_return fail(Code::not_found, "There is no such user.");
  co_return Reply(204);
}

// Above what a reactor reads itself, so it is the pool's.
Task<Result<Json<Report>>> report(Database& db) {
  auto found = co_await db.query_one<Report>(
      "SELECT count(*) AS users, sum(length(name) + length(email)) AS bytes FROM users");
  if (!found) co_return std::unexpected(found.error());
  co_return Json<Report>{found->value_or(Report{})};
}

Task<Result<Reply>> fill(Database& db, std::int64_t from, std::int64_t count) {
  const auto made = co_await db.execute(
      "WITH RECURSIVE n(i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i < $1 + $2 - 1) "
      "INSERT OR REPLACE INTO users SELECT i, 'user ' || i, 'user' || i || '@example.org' FROM n",
      from, count);
  if (!made) co_return std::unexpected(made.error());
  co_return Reply(204);
}

}  // namespace

void mount_users(Group& routes, Database& database) {
  Database* const db = &database;
  routes.get("/users", [db](Query<Page> page) { return list(*db, page->limit, page->after); });
  routes.post("/users", [db](Json<NewUser> user) { return add(*db, std::move(*user)); });
  routes.get("/users/{id}", [db](Path<std::int64_t> id) { return find(*db, *id); });
  routes.put("/users/{id}", [db](Path<std::int64_t> id, Json<NewUser> user) {
    return replace(*db, *id, std::move(*user));
  });
  routes.delete_("/users/{id}", [db](Path<std::int64_t> id) { return remove(*db, *id); });
  routes.get("/report", [db] { return report(*db); });
  routes.post("/fill", [db](Query<Range> range) { return fill(*db, range->from, range->count); });
}

Result<void> make_users(Database& database, std::int64_t rows) {
  auto make = [](Database& db, std::int64_t count) -> Task<Result<void>> {
    const auto table = co_await db.execute(
        "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
        "email TEXT NOT NULL UNIQUE) STRICT");
    if (!table) co_return std::unexpected(table.error());
    const auto filled = co_await fill(db, 1, count);
    if (!filled) co_return std::unexpected(filled.error());
    co_return {};
  };
  thread::Loop loop;
  return loop.run(make(database, rows));
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
