// DatabaseSessionStore: sessions in a table of the program's database, SQLite or PostgreSQL. All
// instances share the table, and it outlives them.
//
//   auto store = std::make_shared<sessions::DatabaseSessionStore>(database);
//
// The table katana_sessions is created at the first use. If the database user may not create
// tables, add migration() to the program's migrations and set `make_table = false`. Ids and
// principals are stored as SHA-256.
//
// Borrows    the database, which must outlive it.
// Thread     any reactor's.
// Allocates  as the database's calls do, and texts.
// Fails      Code::unavailable for every Error of the database.
// Invariant  one statement changes a row, and finds it by its version. Expired rows are not found.
//            Requests that make a session delete them, 500 at a time and at most 2,000 once a
//            minute.
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
  // The largest number of rows that one call of remove_expired() deletes.
  static constexpr std::int64_t expired_rows_max = 500;
  // Deletes rows that were expired at `now_s`, and returns their number. Call it again while it
  // returns expired_rows_max.
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
