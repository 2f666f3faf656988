// queue_crash: a program with a job queue, on SQLite or PostgreSQL, that test_queue_crash.py kills.
//
// POST /orders/{id} writes an order and, in the same transaction, queues the job that counts it. An
// id that is a multiple of five queues and rolls back. Each attempt at a job is a row of `attempts`
// with its fence. The row is written before a pause, in which the test kills the program. Multiples
// of seven are counted in the job's own transaction, exactly once. Order 13 fails for ever.
//
// POST /fill/{count} queues jobs of the queue `nothing`, which do nothing, for lab/queue_cost.py.
// Each is queued in a separate transaction with the row of an order.
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/reactor_group.hpp"
#include "katana/net/reactor/sleep.hpp"

using namespace katana;

struct CountOrder {
  std::int64_t id = 0;
};
KATANA_DESCRIBE(CountOrder, id)

namespace {

Task<database::Result<bool>> add_order(database::Database& db, queue::JobQueue& queue,
                                       std::int64_t id) {
  auto transaction = co_await db.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  auto written = co_await transaction->execute("INSERT INTO orders (id) VALUES ($1)", id);
  if (!written) co_return std::unexpected(written.error());
  const CountOrder job{id};
  const auto queued = co_await queue.enqueue(*transaction, "orders", job);
  if (!queued) {
    co_return database::fail(database::Kind::unavailable, queued.error().message());
  }
  if (id % 5 == 0) {
    auto undone = co_await transaction->rollback();
    if (!undone) co_return std::unexpected(undone.error());
    co_return false;
  }
  auto committed = co_await transaction->commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_return true;
}

Task<Result<void>> count_once(database::Database& db, std::int64_t id, queue::Delivery& delivery) {
  auto transaction = co_await db.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  auto counted = co_await transaction->execute("INSERT INTO once (id) VALUES ($1)", id);
  if (!counted) co_return std::unexpected(counted.error());
  const Result<void> completed = co_await delivery.complete_in(*transaction);
  if (!completed) co_return completed;
  auto committed = co_await transaction->commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_return {};
}

Task<Result<void>> count_order(database::Database& db, CountOrder job, queue::Delivery& delivery) {
  auto noted =
      co_await db.execute("INSERT INTO attempts (id, job, fence, attempt) VALUES ($1, $2, $3, $4)",
                          job.id, delivery.id(), delivery.fence(), delivery.attempt());
  if (!noted) co_return std::unexpected(noted.error());
  co_await net::sleep_for(milliseconds(20));
  if (job.id == 13) co_return fail(Code::internal, "poison");
  if (job.id % 7 == 0) co_return co_await count_once(db, job.id, delivery);
  auto done = co_await db.execute("INSERT INTO counted (id, fence) VALUES ($1, $2)", job.id,
                                  delivery.fence());
  if (!done) co_return std::unexpected(done.error());
  co_return {};
}

Task<Result<void>> fill(database::Database& db, queue::JobQueue& queue) {
  auto transaction = co_await db.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  const std::int64_t id = 0;
  auto written = co_await transaction->execute("INSERT INTO orders (id) VALUES ($1)", id);
  if (!written) co_return std::unexpected(written.error());
  const CountOrder job{id};
  const auto queued = co_await queue.enqueue(*transaction, "nothing", job);
  if (!queued) co_return std::unexpected(queued.error());
  auto committed = co_await transaction->commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_return {};
}

Task<Result<void>> do_nothing(CountOrder) { co_return {}; }

void add_routes(const registry::Services& services, Router& router) {
  auto& db = services.get<database::Database>();
  auto& queue = services.get<queue::JobQueue>();
  router.post("/orders/{id}", [&db, &queue](Path<std::int64_t> id) -> Task<Reply> {
    const auto added = co_await add_order(db, queue, *id);
    const char* said = "rolled back";
    if (!added) {
      said = "failed";
    } else if (*added) {
      said = "committed";
    }
    Reply reply = Reply::text(Text(std::string(said)));
    reply.set_status(added ? 200 : 503);
    co_return reply;
  });
  router.post("/fill/{count}", [&db, &queue](Path<int> count) -> Task<Reply> {
    for (int left = *count; left > 0; --left) {
      const auto added = co_await fill(db, queue);
      if (!added) co_return problem(Error(Code::unavailable, added.error().describe()));
    }
    co_return Reply(204);
  });
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "queue_crash",
       .database = {app::sqlite(), app::postgres()},
       .migrations = {{"0001_orders.sql",
                       "CREATE TABLE orders (id BIGINT NOT NULL);\n"
                       "CREATE TABLE attempts (id BIGINT NOT NULL, job BIGINT NOT NULL, fence "
                       "BIGINT NOT NULL, attempt BIGINT NOT NULL);\n"
                       "CREATE TABLE counted (id BIGINT NOT NULL, fence BIGINT NOT NULL);\n"
                       "CREATE TABLE once (id BIGINT NOT NULL);\n"}}});
  app.routes(add_routes);
  app.queue<CountOrder>(
      "orders",
      [](const registry::Services& services, CountOrder job, queue::Delivery& delivery) {
        return count_order(services.get<database::Database>(), job, delivery);
      },
      {.concurrency = 8,
       .attempts_max = 6,
       .lease = milliseconds(600),
       .backoff_min = milliseconds(10),
       .backoff_max = milliseconds(50),
       .poll = milliseconds(100),
       .stop_grace = milliseconds(100)});
  app.queue<CountOrder>("nothing", do_nothing, {.concurrency = 64});
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
