// TemporaryPostgres: a PostgreSQL database for one test, with its migrations.
//
//   testing::TemporaryPostgres database(shop::options().migrations);
//   if (database.is_missing()) GTEST_SKIP() << database.problem();
//   testing::TestApplication app(shop::options(), shop::configure,
//                                {.settings = {database.setting()},
//                                 .server = {.waits_for_time = database.waits_for_time()}});
//
// The first one of a process starts a server (PostgresCluster). Migrations run once for a process,
// in a database that PostgreSQL then copies for each test: some 10 ms. It tests features that
// SQLite in memory lacks: exclusion constraints, FOR UPDATE, casts, NOTIFY.
//
// Owns       its database, which is dropped at its end.
// Thread     the test's.
// Allocates  freely: a test's tool.
// Fails      problem() says why it could not be made. is_missing(): because PostgreSQL's server is
//            not installed. The setting then names no server, and a program does not start.
// Invariant  declared before a TestApplication that uses it, and so destroyed after the program.
//            The server's clock (now()) is the real one, whatever virtual time a test has.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/testing/postgres/postgres_cluster.hpp"

namespace katana::testing {

class TemporaryPostgres {
 public:
  explicit TemporaryPostgres(const std::vector<database::MigrationFile>& migrations = {});
  TemporaryPostgres(std::initializer_list<database::MigrationFile> migrations)
      : TemporaryPostgres(std::vector(migrations)) {}
  // Migrations from a folder of NUMBER_name.sql.
  explicit TemporaryPostgres(const std::string& migrations_folder);
  ~TemporaryPostgres();
  TemporaryPostgres(const TemporaryPostgres&) = delete;
  TemporaryPostgres& operator=(const TemporaryPostgres&) = delete;

  // PostgreSQL is not installed here: a test that needs it calls GTEST_SKIP().
  bool is_missing() const noexcept { return is_missing_; }
  // The reason why there is no database; empty: there is one.
  const std::string& problem() const noexcept { return problem_; }
  // The name of the database.
  const std::string& name() const noexcept { return name_; }
  // Its address, for database.url.
  std::string url() const;
  // "database.url=…", for TestApplicationOptions::settings.
  std::string setting() const { return "database.url=" + url(); }

  // For code without a program; opened at the first call. REQUIRES problem().empty().
  database::Database& database();
  // Runs statements without results in a separate session, to arrange a test; any number, with
  // semicolons.
  Result<void> run(const std::string& statements) const;

  // For TestOptions::waits_for_time. True when all work of the database waits for locks of rows or
  // tables. Virtual time then passes until a lock is released.
  std::function<bool()> waits_for_time() const;

 private:
  void make(const std::string& folder, const Result<std::vector<database::Migration>>& migrations);
  Result<void> copy(const std::string& folder, const std::vector<database::Migration>& migrations);

  std::string problem_;
  bool is_missing_ = false;
  std::string name_;                    // empty: no database was made
  PostgresCluster* cluster_ = nullptr;  // null: no server
  std::optional<database::Database> database_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
