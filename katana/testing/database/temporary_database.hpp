// TemporaryDatabase: an SQLite database in memory for one test, with its migrations.
//
//   testing::TemporaryDatabase database(migrations());
//   registry.instance<database::Database>(database.database());
//
// It is a complete database: constraints, transactions, write-ahead log; see
// stores/database/sqlite. Its work runs in the turns of the calling reactor, in virtual time. A
// test starts no thread for it, and a timeout of 30 s costs nothing. Outside of a reactor
// (thread::Loop) a thread does the work.
//
// Owns       the database and its memory; nothing remains afterwards.
// Thread     the test's.
// Allocates  freely.
// Fails      problem() says why it could not be made, for example a wrong migration; each call then
//            fails with it.
// Invariant  declared before a TestServer whose handlers use it, and so destroyed after the server.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/options.hpp"
#include "katana/testing/database/database_faults.hpp"

namespace katana::testing {

// Opens `options` in memory unless they have a path. Calls fail and wait as `faults` say, which
// outlive the database. For tests that need more than TemporaryDatabase has.
Result<database::Database> open_for_test(database::sqlite::Options options, DatabaseFaults& faults);

class TemporaryDatabase {
 public:
  explicit TemporaryDatabase(const std::vector<database::MigrationFile>& migrations = {});
  TemporaryDatabase(std::initializer_list<database::MigrationFile> migrations)
      : TemporaryDatabase(std::vector(migrations)) {}
  // Migrations from a folder of NUMBER_name.sql.
  explicit TemporaryDatabase(const std::string& migrations_folder);
  ~TemporaryDatabase();
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;

  const std::string& problem() const noexcept { return problem_; }  // empty: the database is usable
  // Valid as long as this object; REQUIRES an empty problem().
  database::Database& database() noexcept { return *database_; }
  database::Database* operator->() noexcept { return &*database_; }
  DatabaseFaults& faults() noexcept { return faults_; }  // failures and delays that a test injects

 private:
  void open(database::sqlite::Options options);
  void break_with(const Error& why);

  std::string problem_;
  DatabaseFaults faults_;
  std::optional<database::Database> database_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
