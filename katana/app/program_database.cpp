// The database of an application: how it is opened, awaited and observed.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "katana/app/database_start.hpp"
#include "katana/app/program.hpp"

namespace katana::app {

Result<void> Program::start_database() {
  const auto present = settings();
  auto bundled = database::bundled_migrations(options_.migrations);
  if (!bundled) return std::unexpected(bundled.error());
  DatabaseStartOptions how{.timeout = present->database.timeout,
                           .system = options_.database.scheme(present->database.url),
                           .logger = log_->logger("database")};
  migrations_ = std::make_shared<MigrationTelemetry>(how.system, log_->logger("database"));
  how.on_migrated = [telemetry = migrations_](std::span<const database::Migration> applied) {
    telemetry->on_migrated(applied);
  };
  if (embedding_ && embedding_->open_database) {
    how.open = [this, present, files = *std::move(bundled)](const database::Opening&) {
      return embedding_->open_database(options_.database, present->database, files);
    };
  } else {
    // Captures no `this`: an attempt may outlive the program.
    how.open = [drivers = options_.database, settings = present->database,
                files = *std::move(bundled)](const database::Opening& opening) {
      return drivers.open(settings, files, opening);
    };
  }
  // A successor that cannot serve has its predecessor go on.
  const bool may_wait = serves_ && !embedding_ && !inherited_;
  if (may_wait) {
    how.wait_max = database_wait(present->database.start_wait,
                                 [](const char* name) { return std::getenv(name); });
  }
  database_start_ = std::make_unique<DatabaseStart>(std::move(how));
  auto opened = database_start_->start();
  if (!opened) return std::unexpected(opened.error());
  database_.emplace(std::move(*opened));
  database_->backend().observe_outages([logger = log_->logger("database"),
                                        limit = std::make_shared<log::RateLimit>(20, seconds(10))](
                                           const database::Outage& outage) {
    if (outage.why.empty()) {
      logger.info(*limit, "{} is usable again after {} ms", outage.where, outage.lasted.count_ms());
    } else {
      logger.warn(*limit, "{} is not usable: {}", outage.where, outage.why);
    }
  });
  return {};
}

// The program serves by now. When an awaited database has come, the service manager is told. One
// that will never come ends the program.
void Program::go_on_with_database() {
  if (database_start_->awaits()) {
    logger_.warn(
        "serving on {}, and not ready: what needs the database is answered 503 until it is "
        "there",
        url());
  }
  database_start_->go_on({.on_there =
                              [this] {
                                tell_manager(manager_.ready("serving on " + url()));
                                if (on_ready_) on_ready_();
                              },
                          .on_failed =
                              [this](const Error& error) {
                                logger_.error("the database: {}", error.describe());
                                {
                                  const std::lock_guard lock(failure_mutex_);
                                  failure_ = error.within("database");
                                }
                                shutdown();
                              }});
}

// Called once there are metrics, which are started beside the database.
Result<void> Program::observe_statements() {
  const DatabaseSettings settings = this->settings()->database;
  StatementTelemetryOptions options{
      .slow = log_->logger("database"),
      .slow_after = settings.slow_statement,
      .metrics = settings.statement_metrics ? &observability_->registry() : nullptr,
      .standard = standard_metrics(),
      .on_statement = options_.on_statement};
  if (embedding_) options.clock = embedding_->clock;
  statements_ = std::make_unique<StatementTelemetry>(std::move(options));
  if (auto prepared = statements_->prepare(); !prepared) return prepared;
  database_->backend().observe_statements(statements_.get());
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
