// migrate(): applies migrations to an SQLite file.
//
//   auto report = sqlite::migrate({.path = "var/users.db"}, {.folder = "migrations"});
//
// Owns       its connection, for the call, unless it is given one.
// Thread     any; blocks.
// Allocates  yes.
// Fails      an Error names the file, and has the database's message about it. The database is then
//            as it was: all migrations of a call are one transaction.
// Invariant  the lock for writing is held from before the search for missing migrations until they
//            are applied. When several processes start at once, one applies the migrations, and the
//            others find them applied.
#pragma once

#include <string>
#include <vector>

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/options.hpp"

namespace katana::database::sqlite {

class Connection;

// The migrations to apply, and the options for it.
struct MigrateOptions {
  std::string folder = {};              // with the *.sql files; empty: `bundled` is used
  std::vector<Migration> bundled = {};  // instead of a folder
  bool dry_run = false;                 // does everything, and undoes it
  Opening opening = {};                 // hears of the progress; SQLite ignores its `stop`
};

// Uses path, create, busy_wait and vfs of `options`.
katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how);
// The same by a connection that the caller has opened with `options`, and keeps.
katana::Result<MigrationReport> migrate(Connection& connection, const Options& options,
                                        const MigrateOptions& how);

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
