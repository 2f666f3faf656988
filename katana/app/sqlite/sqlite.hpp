// The SQLite driver of an Application: database.url is "sqlite:FILE", as sqlite:var/katana.db or
// sqlite:/srv/users.db. The folder of the file is made if it is missing. sqlite::memory: is empty
// at the start and gone at the end.
//
//   app::Application<app::SettingsWithDatabase> app(
//       {.name = "users", .database = app::sqlite()});
//
// Thread     any.
// Allocates  never; the database that it opens does.
// Fails      the driver names a URL without a file, and a file that cannot be opened.
#pragma once

#include <string_view>
#include <vector>

#include "katana/app/database_driver.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/options.hpp"

namespace katana::app {

// For ApplicationOptions::database: opens URLs that begin with "sqlite:".
DatabaseDriver sqlite() noexcept;
// The options of the driver for "sqlite:FILE".
database::sqlite::Options sqlite_options(std::string_view file, const DatabaseSettings& settings,
                                         std::vector<database::Migration> migrations);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
