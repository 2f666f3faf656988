// migrate(): applies migrations to a PostgreSQL database.
//
//   auto report = postgres::migrate(options, {.folder = "migrations"});
//
// Owns       its connection, for the call.
// Thread     any; blocks.
// Allocates  yes.
// Fails      an Error names the file and its line, and has the database's message. Its Code is
//            unavailable only where a retry may help (blocking_session.hpp). The database is then
//            as it was: all migrations of a call are one transaction, which a file may neither
//            begin nor end. Therefore a statement that cannot run in a transaction (CREATE INDEX
//            CONCURRENTLY, VACUUM) is no migration. A file may use a value that an earlier file
//            added to an enum. PostgreSQL allows this only after a commit: the earlier files are
//            then committed first.
// Invariant  an advisory lock is held from before the search for missing migrations until they are
//            applied. When several programs start at once, one applies the migrations, and the
//            others find them applied. A file begins with the settings of a new session, whatever
//            an earlier file has set (pg_dump empties search_path).
#pragma once

#include <string>
#include <vector>

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/opening.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// The migrations to apply, and the options for it.
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
