#include "katana/app/sqlite/sqlite.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::app {
namespace {

Result<void> check(std::string_view rest) {
  if (rest.empty()) {
    return fail(Code::invalid_argument,
                "database.url 'sqlite:' names no file: give sqlite:FILE, as sqlite:var/katana.db");
  }
  // Others read sqlite://a/b as a host, or as the relative a/b; here it would be the absolute /a/b.
  if (rest.starts_with("//")) {
    return fail(Code::invalid_argument,
                fmt::format("database.url 'sqlite:{}' begins with slashes: give sqlite:FILE, as "
                            "sqlite:var/katana.db or sqlite:/srv/katana.db",
                            rest));
  }
  return {};
}

// Ignored when it fails: opening the file reports why.
void make_folder_of(const std::string& file) {
  std::error_code failure;
  const auto folder = std::filesystem::path(file).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
}

Result<database::Database> open(std::string_view rest, const DatabaseSettings& settings,
                                std::vector<database::Migration> migrations,
                                const database::Opening& opening) {
  database::sqlite::Options options = sqlite_options(rest, settings, std::move(migrations));
  options.opening = opening;
  make_folder_of(options.path);
  return database::sqlite::open(std::move(options));
}

}  // namespace

database::sqlite::Options sqlite_options(std::string_view file, const DatabaseSettings& settings,
                                         std::vector<database::Migration> migrations) {
  database::sqlite::Options options;
  options.path = file;
  options.migrations = settings.migrations;
  if (settings.migrations.empty()) options.bundled = std::move(migrations);
  options.durability = settings.durability;
  options.readers = settings.readers;
  options.timeout = settings.timeout;
  options.wait_max = settings.wait_max;
  options.cache_kib = static_cast<std::int64_t>(settings.cache.bytes / 1024);
  options.group_max = settings.group_max;
  database::apply_limits(options, settings.sqlite);
  return options;
}

DatabaseDriver sqlite() noexcept {
  return {.scheme = "sqlite", .form = "sqlite:FILE", .check = check, .open = open};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
