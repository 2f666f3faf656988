#include "katana/testing/postgres/temporary_postgres.hpp"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::testing {
namespace {

// Migrated databases, by the numbers and checksums of their migrations.
struct Templates {
  std::mutex mutex;
  std::map<std::string, std::string> names;
};

Templates& templates() {
  static Templates made;
  return made;
}

std::string key_of(const std::vector<database::Migration>& migrations) {
  std::string key;
  for (const database::Migration& each : migrations) {
    key += fmt::format("{} {};", each.file, database::migration_checksum(each.text));
  }
  return key;
}

std::string numbered(const char* kind) {
  static std::atomic<unsigned> last = 0;
  return fmt::format("{}_{}", kind, ++last);
}

// The template of these migrations, made if it does not exist.
Result<std::string> template_of(PostgresCluster& cluster, const std::string& folder,
                                const std::vector<database::Migration>& migrations) {
  if (migrations.empty()) return std::string("template1");
  const std::lock_guard lock(templates().mutex);
  const std::string key = key_of(migrations);
  const auto found = templates().names.find(key);
  if (found != templates().names.end()) return found->second;
  std::string name = numbered("migrated");
  if (auto made = cluster.run("CREATE DATABASE " + name); !made) {
    return std::unexpected(made.error());
  }
  database::postgres::MigrateOptions how;
  how.folder = folder;
  if (folder.empty()) how.bundled = migrations;
  const auto report = database::postgres::migrate(cluster.options(name), how);
  if (!report) {
    (void)cluster.run("DROP DATABASE " + name);
    return std::unexpected(report.error());
  }
  templates().names.emplace(key, name);
  return name;
}

}  // namespace

TemporaryPostgres::TemporaryPostgres(const std::vector<database::MigrationFile>& migrations) {
  make("", database::bundled_migrations(migrations));
}

TemporaryPostgres::TemporaryPostgres(const std::string& migrations_folder) {
  make(migrations_folder, database::read_migrations(migrations_folder));
}

TemporaryPostgres::~TemporaryPostgres() {
  database_.reset();
  if (name_.empty()) return;
  // FORCE: the server hears a moment later of a connection that a program closed.
  (void)cluster_->run(fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", name_));
}

void TemporaryPostgres::make(const std::string& folder,
                             const Result<std::vector<database::Migration>>& migrations) {
  auto cluster = PostgresCluster::of_process();
  if (!cluster) {
    is_missing_ = cluster.error().code() == Code::not_found;
    problem_ = cluster.error().describe();
    return;
  }
  cluster_ = *cluster;
  const Result<void> made =
      migrations ? copy(folder, *migrations) : std::unexpected(migrations.error());
  if (!made) problem_ = made.error().describe();
}

Result<void> TemporaryPostgres::copy(const std::string& folder,
                                     const std::vector<database::Migration>& migrations) {
  auto from = template_of(*cluster_, folder, migrations);
  if (!from) return std::unexpected(from.error());
  const std::string name = numbered("test");
  // Without fsync copying files takes a third of copying by the log, the default from 15 on.
  const auto made =
      cluster_->run(fmt::format("CREATE DATABASE {} TEMPLATE {}{}", name, *from,
                                cluster_->version() >= 15 ? " STRATEGY file_copy" : ""));
  if (!made) return std::unexpected(made.error());
  name_ = name;
  return {};
}

std::string TemporaryPostgres::url() const {
  return name_.empty() ? "postgresql://katana@%2Fnonexistent/none" : cluster_->url(name_);
}

database::Database& TemporaryPostgres::database() {
  KATANA_REQUIRE(problem_.empty());
  if (!database_) {
    auto opened = database::postgres::open(cluster_->options(name_));
    KATANA_CHECK(opened);
    database_.emplace(*std::move(opened));
  }
  return *database_;
}

Result<void> TemporaryPostgres::run(const std::string& statements) const {
  if (name_.empty()) return fail(Code::unavailable, problem_);
  auto session = database::postgres::BlockingSession::connect(cluster_->options(name_), {});
  if (!session) return std::unexpected(session.error());
  auto done = session->ask(statements);
  if (!done) return std::unexpected(done.error());
  return {};
}

std::function<bool()> TemporaryPostgres::waits_for_time() const {
  if (name_.empty()) return {};
  return [cluster = cluster_, name = name_] {
    const auto blocked = cluster->run(
        fmt::format("SELECT count(*) > 0 AND bool_and(wait_event_type IS NOT DISTINCT FROM 'Lock') "
                    "FROM pg_stat_activity WHERE datname = '{}' AND state = 'active'",
                    name));
    return blocked && *blocked == "t";
  };
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
