// postgres_crash: a program on PostgreSQL. test_postgres_crash.py kills it, and its server.
//
// POST /rows/{id} writes an id as one insert, as one whose row is returned, or as a transaction of
// three. 201 means that it is durable. Any other reply names the kind of the error.
// error.
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/http/handlers/router.hpp"

using namespace katana;

namespace {

Task<database::Result<std::int64_t>> write_parts(database::Database& db, std::int64_t id) {
  auto transaction = co_await db.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  for (int part = 0; part < 3; ++part) {
    auto written =
        co_await transaction->execute("INSERT INTO rows (id, part) VALUES ($1, $2)", id, part);
    if (!written) co_return std::unexpected(written.error());
  }
  co_return co_await transaction->commit();
}

Task<database::Result<std::int64_t>> write(database::Database& db, std::int64_t id) {
  if (id % 3 == 0) co_return co_await write_parts(db, id);
  if (id % 3 == 1) co_return co_await db.execute("INSERT INTO rows VALUES ($1, 0)", id);
  auto row =
      co_await db.query_one<std::int64_t>("INSERT INTO rows VALUES ($1, 0) RETURNING id", id);
  if (!row) co_return std::unexpected(row.error());
  co_return **row;
}

void add_routes(const registry::Services& services, Router& router) {
  auto& db = services.get<database::Database>();
  router.post("/rows/{id}", [&db](Path<std::int64_t> id) -> Task<Reply> {
    const auto written = co_await write(db, *id);
    Reply reply = Reply::text(written ? Text("written")
                                      : Text(std::string(kind_name(written.error().kind()))));
    reply.set_status(written ? 201 : 503);
    co_return reply;
  });
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "postgres_crash", .database = app::postgres()});
  app.routes(add_routes);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
