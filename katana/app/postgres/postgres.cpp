#include "katana/app/postgres/postgres.hpp"

#include <memory>
#include <string>
#include <utility>

#include "katana/stores/database/postgres/notifications.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::app {
namespace {

Result<database::postgres::Options> options_of(std::string_view rest) {
  return database::postgres::Options::from_url("postgresql:" + std::string(rest));
}

Result<void> check(std::string_view rest) {
  auto options = options_of(rest);
  if (!options) return std::unexpected(options.error().within("database.url"));
  return {};
}

Result<database::postgres::Options> options_with(std::string_view rest,
                                                 const DatabaseSettings& settings) {
  auto options = options_of(rest);
  if (!options) return std::unexpected(options.error().within("database.url"));
  options->timeout = settings.timeout;
  options->wait_max = settings.wait_max;
  options->connections_max = settings.connections_max;
  database::apply_limits(*options, settings.postgres);
  if (!settings.password_file.empty()) options->password_file = settings.password_file;
  return options;
}

Result<database::Database> open(std::string_view rest, const DatabaseSettings& settings,
                                std::vector<database::Migration> migrations,
                                const database::Opening& opening) {
  auto options = options_with(rest, settings);
  if (!options) return std::unexpected(options.error());
  options->opening = opening;
  options->migrations = settings.migrations;
  if (settings.migrations.empty()) options->bundled = std::move(migrations);
  return database::postgres::open(*std::move(options));
}

// The handler leaves before the session ends.
class Listening final : public DatabaseListener {
 public:
  Listening(std::unique_ptr<database::postgres::Notifications> notifications,
            database::postgres::NotificationHandler handler) noexcept
      : notifications_(std::move(notifications)), handler_(std::move(handler)) {}
  Result<void> health() const override { return notifications_->health(); }

 private:
  std::unique_ptr<database::postgres::Notifications> notifications_;
  database::postgres::NotificationHandler handler_;
};

Result<std::unique_ptr<DatabaseListener>> listen(std::string_view rest,
                                                 const DatabaseSettings& settings,
                                                 const std::string& channel,
                                                 OnDatabaseNotification f,
                                                 database::OutageObserver observer) {
  auto options = options_with(rest, settings);
  if (!options) return std::unexpected(options.error());
  auto opened = database::postgres::Notifications::open(
      *std::move(options), database::postgres::notification_queue_max, std::move(observer));
  if (!opened) return std::unexpected(opened.error());
  auto handler =
      (*opened)->handle(channel, [f = std::move(f)](const database::postgres::Notification& told) {
        f(told.may_have_missed ? std::string() : told.payload);
      });
  if (!handler) return std::unexpected(handler.error());
  return std::make_unique<Listening>(*std::move(opened), *std::move(handler));
}

}  // namespace

DatabaseDriver postgres() noexcept {
  return {.scheme = "postgresql",
          .form = "postgresql://USER@HOST/NAME",
          .check = check,
          .open = open,
          .listen = listen};
}

Result<database::postgres::Options> postgres_options(const DatabaseSettings& settings) {
  const std::string_view url = settings.url;
  constexpr std::string_view scheme = "postgresql:";
  if (!url.starts_with(scheme)) {
    return fail(Code::invalid_argument,
                "database.url is not of PostgreSQL: give postgresql://USER@HOST/NAME");
  }
  return options_with(url.substr(scheme.size()), settings);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
