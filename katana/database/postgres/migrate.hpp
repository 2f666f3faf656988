// migrate(): applies migrations to a PostgreSQL database.
//
//   auto report = postgres::migrate(options, {.folder = "migrations"});
//
// Owns       its connection, for the call.
// Thread     any; blocks.
// Allocates  yes.
// Fails      an Error names the file, and what the database says of it. The database is then as it
//            was: all migrations of a call are one transaction. So what PostgreSQL does not do in
//            one (CREATE INDEX CONCURRENTLY, VACUUM) is no migration.
// Invariant  an advisory lock is held from before it is looked what to do until it is done: of
//            several programs that start at once, one applies them and the others find them
//            applied.
#pragma once

#include <string>
#include <vector>

#include "katana/database/migrations.hpp"
#include "katana/database/postgres/options.hpp"

namespace katana::database::postgres {

struct MigrateOptions {
  std::string folder = {};
  std::vector<Migration> bundled = {};  // instead of a folder
  bool dry_run = false;                 // does everything, and undoes it
  Duration lock_wait = seconds(60);     // for another program that migrates
};

katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
