// DatabaseDriver: one kind of database that a program was built with, named by the scheme of
// database.url.
//
//   app::Application<app::SettingsWithDatabase> app(
//       {.name = "users", .database = app::sqlite()});
//
// A driver is a value from its own module, such as app/sqlite. No driver registers itself: a
// program links the drivers that it names. A program that names none links no database.
//
// Owns       nothing but its fields; the names are literals.
// Borrows    the settings, for the call.
// Thread     values.
// Allocates  open() does.
// Fails      open_database() and check_database() name the scheme that is unknown, and those that
//            the program was built with.
// Invariant  a scheme belongs to one driver: the first that has it.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/app/settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/opening.hpp"

namespace katana::app {

// Listens for notifications of the database until it is destroyed.
class DatabaseListener {
 public:
  virtual ~DatabaseListener() = default;
  // An Error says why notifications may be missed now. Any thread; it does not block.
  virtual Result<void> health() const = 0;
};

// Called by any thread with the payload of a notification; it must not block. Empty: notifications
// may have been missed.
using OnDatabaseNotification = std::function<void(const std::string& payload)>;

struct DatabaseDriver {
  std::string_view scheme;  // of database.url, without its colon
  std::string_view form;    // for errors, as "sqlite:FILE"
  // Checks the part of a URL behind "scheme:", without opening anything. The Error names the
  // mistake.
  Result<void> (*check)(std::string_view rest);
  // REQUIRES that check() passed. `migrations` are the program's, for settings that name no folder.
  // Code::unavailable: the database may be there later, and is then opened again; see opening.hpp.
  Result<database::Database> (*open)(std::string_view rest, const DatabaseSettings& settings,
                                     std::vector<database::Migration> migrations,
                                     const database::Opening& opening);
  // Null: this kind of database has no notifications.
  Result<std::unique_ptr<DatabaseListener>> (*listen)(std::string_view rest,
                                                      const DatabaseSettings& settings,
                                                      const std::string& channel,
                                                      OnDatabaseNotification f,
                                                      database::OutageObserver observer) = nullptr;
};

// The drivers of ApplicationOptions::database: none, one, or several in braces.
class DatabaseDrivers {
 public:
  DatabaseDrivers() = default;
  DatabaseDrivers(const DatabaseDriver& driver) : drivers_{driver} {}  // NOLINT: a driver is a list
  DatabaseDrivers(std::initializer_list<DatabaseDriver> drivers) : drivers_(drivers) {}

  bool empty() const noexcept { return drivers_.empty(); }

  // invalid_argument: the URL is not one that the drivers take.
  Result<void> check(std::string_view url) const;
  // REQUIRES !empty().
  Result<database::Database> open(const DatabaseSettings& settings,
                                  std::vector<database::Migration> migrations,
                                  const database::Opening& opening = {}) const;
  // The scheme of the URL, as a literal; empty where open() fails.
  std::string_view scheme(std::string_view url) const;
  // Null where the database has no notifications. `observer` is called for outages, by any thread.
  // REQUIRES that check() passed.
  Result<std::unique_ptr<DatabaseListener>> listen(const DatabaseSettings& settings,
                                                   const std::string& channel,
                                                   OnDatabaseNotification f,
                                                   database::OutageObserver observer) const;

 private:
  Result<const DatabaseDriver*> find(std::string_view url) const;

  std::vector<DatabaseDriver> drivers_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
