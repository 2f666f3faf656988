#include "katana/app/database_driver.hpp"

#include <fmt/format.h>

namespace katana::app {
namespace {

std::string_view scheme_of(std::string_view url) { return url.substr(0, url.find(':')); }

// The part behind the colon. REQUIRES that there is one.
std::string_view rest_of(std::string_view url) { return url.substr(url.find(':') + 1); }

}  // namespace

// The URL itself is not repeated where it may hold a password: only its scheme is.
Result<const DatabaseDriver*> DatabaseDrivers::find(std::string_view url) const {
  std::string forms;
  for (const DatabaseDriver& driver : drivers_) {
    if (url.find(':') != url.npos && driver.scheme == scheme_of(url)) return &driver;
    forms += fmt::format("{}{}", forms.empty() ? "" : " or ", driver.form);
  }
  if (forms.empty()) {
    return fail(Code::invalid_argument, "database.url: this program was built without a database");
  }
  if (url.find(':') == url.npos) {
    return fail(Code::invalid_argument,
                fmt::format("database.url '{}' has no scheme: give {}", url, forms));
  }
  return fail(Code::invalid_argument,
              fmt::format("database.url has the scheme '{}', which this program was built without: "
                          "give {}",
                          scheme_of(url), forms));
}

Result<void> DatabaseDrivers::check(std::string_view url) const {
  const auto driver = find(url);
  if (!driver) return std::unexpected(driver.error());
  return (*driver)->check(rest_of(url));
}

Result<database::Database> DatabaseDrivers::open(const DatabaseSettings& settings,
                                                 std::vector<database::Migration> migrations,
                                                 const database::Opening& opening) const {
  if (auto checked = check(settings.url); !checked) return std::unexpected(checked.error());
  const DatabaseDriver& driver = **find(settings.url);
  return driver.open(rest_of(settings.url), settings, std::move(migrations), opening);
}

std::string_view DatabaseDrivers::scheme(std::string_view url) const {
  const auto driver = find(url);
  return driver ? (*driver)->scheme : std::string_view();
}

Result<std::unique_ptr<DatabaseListener>> DatabaseDrivers::listen(
    const DatabaseSettings& settings, const std::string& channel, OnDatabaseNotification f,
    database::OutageObserver observer) const {
  const auto driver = find(settings.url);
  if (!driver) return std::unexpected(driver.error());
  if ((*driver)->listen == nullptr) return nullptr;
  return (*driver)->listen(rest_of(settings.url), settings, channel, std::move(f),
                           std::move(observer));
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
