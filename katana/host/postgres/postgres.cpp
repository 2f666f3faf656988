#include "katana/host/postgres/postgres.hpp"

#include <string>
#include <utility>

#include "katana/database/postgres/postgres.hpp"

namespace katana::host {
namespace {

Result<database::postgres::Options> options_of(std::string_view rest) {
  return database::postgres::Options::from_url("postgresql:" + std::string(rest));
}

Result<void> check(std::string_view rest) {
  auto options = options_of(rest);
  if (!options) return std::unexpected(options.error().within("database.url"));
  return {};
}

Result<database::Database> open(std::string_view rest, const DatabaseSettings& settings,
                                std::vector<database::Migration> migrations) {
  auto options = options_of(rest);
  if (!options) return std::unexpected(options.error().within("database.url"));
  options->migrations = settings.migrations;
  if (settings.migrations.empty()) options->bundled = std::move(migrations);
  options->timeout = settings.timeout;
  options->wait_max = settings.wait_max;
  options->connections_max = settings.connections_max;
  database::apply_limits(*options, settings.postgres);
  if (!settings.password_file.empty()) options->password_file = settings.password_file;
  return database::postgres::open(*std::move(options));
}

}  // namespace

DatabaseDriver postgres() noexcept {
  return {
      .scheme = "postgresql", .form = "postgresql://USER@HOST/NAME", .check = check, .open = open};
}

}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
