// main_job: users over SQLite, durable; KATANA's server of the laboratory's experiment main_job. It
// is written as docs/guides/application.md recommends, with default settings.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/sqlite/sqlite.hpp"
#include "katana/application.hpp"
#include "katana/http.hpp"

namespace {

using namespace katana;
using database::Database;

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
};
KATANA_DESCRIBE(User, id, name, email)

struct NewUser {
  std::string name;
  std::string email;
};
KATANA_DESCRIBE(NewUser, (name, required, length(1, 100)),
                (email, required, format::email, length(3, 200)))

struct PageQuery {
  std::int64_t after = 0;
  int limit = 20;
};
KATANA_DESCRIBE(PageQuery, (after, at_least(0)), (limit, range(1, 100)))

struct Page {
  std::vector<User> users;
  std::optional<std::int64_t> next;  // the next page begins after this id; null: there is none
};
KATANA_DESCRIBE(Page, users, next)

Task<Result<Json<User>>> find(Path<std::int64_t> id, Inject<Database> db) {
  auto user = co_await db->query_one<User>("SELECT id, name, email FROM users WHERE id = $1", *id);
  if (!user) co_return std::unexpected(user.error());
  if (!*user) co_return fail(Code::not_found, "There is no such user.");
  co_return Json(**std::move(user));
}

Task<Result<Json<Page>>> list(Query<PageQuery> page, Inject<Database> db) {
  // One more than was asked for says whether there is another page.
  auto rows = co_await db->query<User>(
      "SELECT id, name, email FROM users WHERE id > $1 ORDER BY id LIMIT $2", page->after,
      page->limit + 1);
  if (!rows) co_return std::unexpected(rows.error());
  Page found{.users = *std::move(rows), .next = std::nullopt};
  if (std::cmp_greater(found.users.size(), page->limit)) {
    found.users.pop_back();
    found.next = found.users.back().id;
  }
  co_return Json(std::move(found));
}

Task<Result<Reply>> add(Json<NewUser> given, Inject<Database> db) {
  auto made = co_await db->query_one<User>(
      "INSERT INTO users (name, email) VALUES ($1, $2) RETURNING id, name, email", *given);
  if (!made && made.error().kind() == database::Kind::constraint_violation) {
    co_return problem(409, "Another user has this e-mail address.");
  }
  if (!made) co_return std::unexpected(made.error());
  co_return json_reply(**made, 201).with("Location", fmt::format("/users/{}", (*made)->id));
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "main_job",
       .database = app::sqlite(),
       .migrations = {{"0001_users.sql",
                       "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, "
                       "name TEXT NOT NULL, email TEXT NOT NULL UNIQUE) STRICT"}}});
  app.routes([](const registry::Services&, Router& router) {
    router.get("/users", list);
    router.get("/users/{id}", find);
    router.post("/users", add);
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
