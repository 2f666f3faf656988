// migrate(): applies migrations to a PostgreSQL database.
//
//   auto report = postgres::migrate(options, {.folder = "migrations"});
//
// Owns       its connection, for the call.
// Thread     any; blocks.
// Allocates  yes.
// Fails      an Error names the file, its line, and what the database says of it, with
//            Code::unavailable only where to repeat the call may help (blocking_session.hpp). The
//            database is then as it was: all migrations of a call are one transaction, which a file
//            may neither begin nor end. Therefore what PostgreSQL does not do in one (CREATE INDEX
//            CONCURRENTLY, VACUUM) is no migration. Where a file uses what PostgreSQL lets be used
//            only after a commit (a value that an earlier file added to an enum), those before it
//            are committed first.
// Invariant  an advisory lock is held from before it is looked what to do until it is done: of
//            several programs that start at once, one applies them and the others find them
//            applied. A file begins with the settings of a new session, whatever one before it
//            has set (pg_dump empties search_path).
#pragma once

#include <string>
#include <vector>

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/opening.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// Which migrations are applied, and how.
struct MigrateOptions {
  std::string folder = {};              // with the *.sql files; empty: `bundled` is used
  std::vector<Migration> bundled = {};  // instead of a folder
  bool dry_run = false;                 // does everything, and undoes it
  Duration lock_wait = seconds(60);     // for another program that migrates
  Opening opening = {};                 // stops the attempt, and hears of its progress
};

katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
