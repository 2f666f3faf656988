// DatabaseStore: keys in a table of the program's database, SQLite or PostgreSQL, which all
// instances share and which outlives them. keep(): a reply in the transaction of its handler's
// work, so that the two are there together or not at all.
//
//   auto store = std::make_shared<idempotency::DatabaseStore>(database);
//
//   Task<Result<Reply>> create(Json<Order> order, FromContext<IdempotentRequest> request, …) {
//     std::optional<Reply> reply;
//     auto body = [&](database::Transaction& transaction) -> Task<Result<void>> {
//       auto made = co_await transaction.execute("INSERT INTO orders …", …);
//       if (!made) co_return std::unexpected(made.error());
//       reply = Reply(201)…;
//       co_return co_await idempotency::keep(transaction, *request, *reply);
//     };
//     const Result<void> done = co_await database::transact(*database, body);
//     …
//   }
//
// The table katana_idempotency is made at the first use. A program whose user of the database may
// not make tables has migration() among its migrations, and says `make_table = false`.
//
// Times are those of the server's clock with PostgreSQL, so that instances on several machines
// agree on leases; with SQLite, whose processes share a machine, of the process's.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do, and texts.
// Fails      Code::unavailable with the database's Error. keep(): Code::already_exists when the
//            claim was lost: the transaction has to be rolled back, and body() above does so.
// Invariant  a row is changed by one statement, which finds it by its token. Rows whose time is
//            over are as good as none; they are deleted 500 at a time, at most 2,000 once a minute,
//            by who claims a key.
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

  // How many rows are gone; call it again while it is expired_rows_max.
  static constexpr std::int64_t expired_rows_max = 500;
  // At most expired_rows_max rows whose time is over, in one statement.
  Task<Result<std::int64_t>> remove_expired();

 private:
  Task<Result<void>> make_table();
  Task<void> remove_some_expired();

  database::Database& database_;
  const bool is_postgres_;
  std::atomic<bool> has_table_;
  std::atomic<std::int64_t> expired_removed_s_ = 0;
};

// Of a handler behind an Idempotency with a DatabaseStore of the same database. Does nothing for a
// request without a key. REQUIRES a reply that is not streamed; its content may have at most
// Options::reply_bytes_max, else a repetition answers 409.
Task<Result<void>> keep(const database::Nestable& transaction, IdempotentRequest request,
                        const Reply& reply);

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
