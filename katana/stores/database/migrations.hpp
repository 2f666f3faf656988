// Migrations: numbered SQL files that bring a database to the form that a program wants.
//
//   migrations/0001_create_users.sqlite.sql     migrations/0002_add_age.sql   …
//   migrations/0001_create_users.postgres.sql
//
// A file is NUMBER_name.sql, for every database, or NUMBER_name.DIALECT.sql, for one kind: sqlite
// or postgres. Numbers begin with 1 and have no gaps, for each kind; a name has letters, digits,
// "_" and "-". Applied migrations are kept in the table katana_migrations, with a checksum of each
// file, so that a file which was changed afterwards is noticed. (The checksum finds accidents, not
// malice.)
//
// Owns       their text.
// Thread     any.
// Allocates  yes.
// Fails      an Error names the file and the remedy. Nothing is applied then.
// Invariant  migrations are applied in the order of their numbers, each once.
//
// The parts that all databases share are here; see sqlite/migrate.hpp for how they are applied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::database {

// One migration that a program has, or that a database has applied.
struct Migration {
  std::uint32_t number = 0;  // from 1, without gaps
  std::string file;          // the name of the file, without its folder
  std::string checksum;      // migration_checksum() of its text
  std::string text;          // empty for what is only known to have been applied
  std::string dialect = {};  // "sqlite", "postgres"; empty: for both
  // When its statements ran, by monotonic_now(); 0: not in this call.
  Instant began = {};
  Instant ended = {};
};

// The result of applying migrations, or of a dry run.
struct MigrationReport {
  std::vector<Migration> applied;  // now, in order; in a dry run: what would be
  std::size_t before = 0;          // how many had been applied already
};

// A migration that the program carries with it: the name of its file, and its text.
struct MigrationFile {
  std::string file;  // "0001_create_users.sql", without a folder
  std::string text;  // one or more SQL statements
};

// 16 hexadecimal digits. Line ends of CR LF count as LF, so that a checkout does not change them.
std::string migration_checksum(std::string_view text);

// The folder's migrations, by number, of all dialects. Files that do not end in ".sql" are left
// out.
katana::Result<std::vector<Migration>> read_migrations(const std::string& folder);

// The same of the migrations that the program carries with it.
katana::Result<std::vector<Migration>> bundled_migrations(const std::vector<MigrationFile>& files);

// The migrations for databases of this dialect.
katana::Result<std::vector<Migration>> migrations_for(std::string_view dialect,
                                                      const std::vector<Migration>& files);

// The migrations of `files` that are not in `applied`. An Error when the two do not fit: a file was
// changed or removed, or a new one has a number below an applied one.
katana::Result<std::vector<Migration>> plan_migrations(const std::vector<Migration>& files,
                                                       const std::vector<Migration>& applied);

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
