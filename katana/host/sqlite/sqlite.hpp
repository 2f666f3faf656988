// The SQLite driver of an Application: database.url is "sqlite:FILE", as sqlite:var/katana.db or
// sqlite:/srv/users.db. The folder of the file is made if it is missing.
//
//   host::Application<host::SettingsWithDatabase> app(
//       {.name = "users", .database = host::sqlite()});
//
// Thread     any.
// Allocates  never; the database that it opens does.
// Fails      the driver names a URL without a file, and a file that cannot be opened.
#pragma once

#include "katana/host/database_driver.hpp"

namespace katana::host {

DatabaseDriver sqlite() noexcept;

}  // namespace katana::host
