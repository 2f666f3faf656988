// DatabaseSessionStore: sessions in a table of the program's database, SQLite or PostgreSQL, which
// all instances share and which outlives them.
//
//   auto store = std::make_shared<sessions::DatabaseSessionStore>(database);
//
// The table katana_sessions is made at the first use. A program whose user of the database may not
// make tables has migration() among its migrations, and says `make_table = false`. Ids and
// principals are there as SHA-256.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do, and texts.
// Fails      Code::unavailable with the database's Error, whatever that is.
// Invariant  a row is changed by one statement, which finds it by its version. Rows whose time is
//            over are not found; they are deleted 500 at a time, at most 2,000 once a minute, by
//            who makes a session.
#pragma once

#include <atomic>
#include <string>

#include "katana/identity/sessions/store.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"

namespace katana::sessions {

class DatabaseSessionStore final : public SessionStore {
 public:
  explicit DatabaseSessionStore(database::Database& database, bool make_table = true) noexcept
      : database_(database), has_table_(!make_table) {}

  // The table, under this number of the program's migrations: "0004_katana_sessions.sql".
  static database::MigrationFile migration(unsigned number);

  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override;
  Task<Result<bool>> compare_and_set(SessionWrite write) override;
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override;
  Task<Result<void>> remove(SessionKey key) override;
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override;
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override;
  // How many rows are gone; call it again while it is expired_rows_max.
  static constexpr std::int64_t expired_rows_max = 500;
  // Deletes rows whose time was over at `now_s`.
  Task<Result<std::int64_t>> remove_expired(std::int64_t now_s);

 private:
  Task<Result<void>> make_table();
  Task<Result<bool>> create(SessionWrite write);
  Task<void> remove_some_expired(std::int64_t now_s);

  database::Database& database_;
  std::atomic<bool> has_table_;
  std::atomic<std::int64_t> expired_removed_s_ = 0;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
