// The PostgreSQL driver of an Application: database.url is
// "postgresql://USER@HOST1,HOST2:5433/NAME?sslmode=verify-full". The guide postgres.md has more.
//
//   app::Application<app::SettingsWithDatabase> app(
//       {.name = "users", .database = {app::sqlite(), app::postgres()}});
//
// Further settings of `database` are timeout, wait_max, connections_max, migrations and
// password_file.
//
// Thread     any.
// Allocates  never; the database that it opens does.
// Fails      the driver names the mistake in a URL, never its password. Without migrations a server
//            that cannot be reached does not fail the start: /ready says so until it answers.
#pragma once

#include "katana/app/database_driver.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::app {

// For ApplicationOptions::database: opens URLs that begin with "postgresql:".
DatabaseDriver postgres() noexcept;
// The options of the driver for these settings, without migrations: for postgres::Notifications,
// which have their own connection.
Result<database::postgres::Options> postgres_options(const DatabaseSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
