// DatabaseStore: keys in a table of the program's database, SQLite or PostgreSQL. All instances
// share the table, and it outlives them. keep(): stores a reply in the transaction of its handler's
// work. The reply and the work are then stored together or not at all.
//
//   auto store = std::make_shared<idempotency::DatabaseStore>(database);
//
//   Task<Result<Reply>> create(Json<Order> order, FromContext<IdempotentRequest> request, …) {
//     std::optional<Reply> reply;
//
//     auto body = [&](database::Transaction& transaction) -> Task<Result<void>> {
//       auto made = co_await transaction.execute("INSERT INTO orders …", …);
//       if (!made) co_return std::unexpected(made.error());
//
//       reply = Reply(201)…;
//       co_return co_await idempotency::keep(transaction, *request, *reply);
//     };
//     const Result<void> done = co_await database::transact(*database, body);
//     …
//   }
//
// The table katana_idempotency is created at the first use. If the database user may not create
// tables, add migration() to the program's migrations and set `make_table = false`.
//
// With PostgreSQL the times come from the server's clock: instances on several machines agree on
// leases. With SQLite all processes share a machine, and the times come from the process's clock.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do, and texts.
// Fails      Code::unavailable with the database's Error. keep(): Code::already_exists when the
//            claim was lost. The transaction must then be rolled back, as body() above does.
// Invariant  one statement changes a row, and finds it by its token. Expired rows count as absent.
//            Claims delete them, 500 at a time and at most 2,000 once a minute.
#pragma once

#include <atomic>
#include <string>

#include "katana/identity/idempotency/idempotency.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"

namespace katana::idempotency {

class DatabaseStore final : public Store {
 public:
  explicit DatabaseStore(database::Database& database, bool make_table = true) noexcept;

  // The table, under this number of the program's migrations: "0004_katana_idempotency.sql".
  static database::MigrationFile migration(unsigned number);

  std::string words() const override { return "database"; }
  Task<Result<Claimed>> claim(Claim claim, Duration lease) override;
  Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) override;
  Task<Result<void>> release(Claim claim) override;

  // The largest number of rows that one call of remove_expired() deletes.
  static constexpr std::int64_t expired_rows_max = 500;
  // Deletes expired rows in one statement, and returns their number. Call it again while it returns
  // expired_rows_max.
  Task<Result<std::int64_t>> remove_expired();

 private:
  Task<Result<void>> make_table();
  Task<void> remove_some_expired();

  database::Database& database_;
  const bool is_postgres_;
  std::atomic<bool> has_table_;
  std::atomic<std::int64_t> expired_removed_s_ = 0;
};

// Stores the reply of a handler behind an Idempotency with a DatabaseStore of the same database. It
// does nothing for a request without a key. REQUIRES a reply that is not streamed. If its body is
// larger than Options::reply_bytes_max, a repeated request is answered with 409.
Task<Result<void>> keep(const database::Nestable& transaction, IdempotentRequest request,
                        const Reply& reply);

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
