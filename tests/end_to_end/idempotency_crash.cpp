// idempotency_crash: a program with idempotency keys in SQLite, that test_idempotency_crash.py
// kills.
//
// POST /orders/{id} writes an order and keeps its reply in the same transaction. POST /loose/{id}
// lets the middleware keep it, once the order is committed. The test kills the program in the
// pauses. Only the key prevents two rows of one id.
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/idempotency/database/key_table.hpp"
#include "katana/net/reactor/sleep.hpp"

using namespace katana;

namespace {

Task<Result<Reply>> add_order(database::Database& db, std::int64_t id,
                              idempotency::IdempotentRequest request, bool keeps) {
  co_await net::sleep_for(milliseconds(2));
  auto transaction = co_await db.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  const auto row = co_await transaction->query_one<std::int64_t>(
      "INSERT INTO orders (number) VALUES ($1) RETURNING id", id);
  if (!row) co_return std::unexpected(row.error());
  Reply reply = Reply::text(Text(std::to_string(row->value_or(0))));
  reply.set_status(201);
  co_await net::sleep_for(milliseconds(2));
  if (keeps) {
    const Result<void> kept = co_await idempotency::keep(*transaction, request, reply);
    if (!kept) co_return std::unexpected(kept.error());
  }
  const auto committed = co_await transaction->commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_await net::sleep_for(milliseconds(20));  // the work is done, and no client has been told
  co_return std::move(reply);
}

void add_routes(const registry::Services& services, Router& router) {
  auto& db = services.get<database::Database>();
  router.use(services.get<idempotency::Idempotency>().middleware());
  for (const bool keeps : {true, false}) {
    router.post(
        keeps ? "/orders/{id}" : "/loose/{id}",
        [&db, keeps](Path<std::int64_t> id, FromContext<idempotency::IdempotentRequest> request)
            -> Task<Result<Reply>> { return add_order(db, *id, *request, keeps); });
  }
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "idempotency_crash",
       .database = app::sqlite(),
       .migrations = {{"0001_orders.sql",
                       "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER "
                       "NOT NULL) STRICT;\n"}}});
  app.routes(add_routes);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
