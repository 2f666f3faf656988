#include "katana/stores/database/sqlite/migrate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/sqlite/connection.hpp"

namespace katana::database::sqlite {
namespace {

constexpr const char* table =
    "CREATE TABLE IF NOT EXISTS katana_migrations ("
    "number INTEGER PRIMARY KEY, file TEXT NOT NULL, checksum TEXT NOT NULL, "
    "applied_at TEXT NOT NULL) STRICT";

struct Applied {
  std::uint32_t number = 0;
  std::string file;
  std::string checksum;
};
KATANA_DESCRIBE(Applied, number, file, checksum)

class Rows final : public Outcome {
 public:
  TypeMismatch take(const Row& row) override {
    Applied applied;
    const TypeMismatch misfit = reader_.read(row, applied);
    rows.push_back({applied.number, applied.file, applied.checksum, {}});
    return misfit;
  }
  void clear() noexcept override { rows.clear(); }
  std::vector<Migration> rows;

 private:
  RowReader<Applied> reader_;
};

class Migrator {
 public:
  Migrator(Connection& connection, const std::string& path)
      : connection_(connection), path_(path) {}

  katana::Result<MigrationReport> run(const MigrateOptions& how) {
    const auto all = how.bundled.empty() ? read_migrations(how.folder)
                                         : katana::Result<std::vector<Migration>>(how.bundled);
    if (!all) return std::unexpected(all.error());
    const auto files = migrations_for("sqlite", *all);
    if (!files) return std::unexpected(files.error());
    if (const int code = connection_.run(Command::begin_now); code != SQLITE_DONE) {
      return failed(code, "cannot take the lock");
    }
    if (how.opening.on_reached) how.opening.on_reached();
    auto report = apply(*files);
    const bool keep = report && !how.dry_run;
    const int code = connection_.run(keep ? Command::commit : Command::rollback);
    if (keep && code != SQLITE_DONE) {
      connection_.run(Command::rollback);
      return failed(code, "cannot commit");
    }
    if (keep && !report->applied.empty() && how.opening.on_migrated) {
      how.opening.on_migrated(report->applied);
    }
    return report;
  }

 private:
  katana::Result<MigrationReport> apply(const std::vector<Migration>& files) {
    if (const int code = connection_.run_text(table); code != SQLITE_OK) {
      return failed(code, "cannot make the table katana_migrations");
    }
    Rows applied;
    const auto list =
        connection_.find("SELECT number, file, checksum FROM katana_migrations ORDER BY number");
    if (!list) return std::unexpected(list.error());
    if (const int code = connection_.run(**list, {}, applied, {}); code != SQLITE_DONE) {
      return std::unexpected(applied.error ? *applied.error : connection_.error(code, {}));
    }
    auto plan = plan_migrations(files, applied.rows);
    if (!plan) return std::unexpected(plan.error().within(path_));
    for (Migration& migration : *plan) {
      migration.began = monotonic_now();
      if (const auto good = apply(migration); !good) return std::unexpected(good.error());
      migration.ended = monotonic_now();
    }
    return MigrationReport{*std::move(plan), applied.rows.size()};
  }

  // Runs every statement of the file, and records the migration as a row.
  katana::Result<void> apply(const Migration& migration) {
    if (const auto good = connection_.run_script(migration.text); !good) {
      return std::unexpected(good.error().within(fmt::format("{}: {}", path_, migration.file)));
    }
    if (!connection_.in_transaction()) {
      return katana::fail(Code::invalid_argument,
                          fmt::format("{}: {} ended the transaction", path_, migration.file));
    }
    const auto note = connection_.find(
        "INSERT INTO katana_migrations VALUES ($1, $2, $3, "
        "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
    if (!note) return std::unexpected(note.error());
    const std::array<Value, 3> values = {Value::of_integer(migration.number),
                                         Value::of_text(migration.file),
                                         Value::of_text(migration.checksum)};
    Rows none;
    const int code = connection_.run(**note, values, none, {});
    if (code != SQLITE_DONE) return failed(code, "cannot note " + migration.file);
    return {};
  }

  std::unexpected<katana::Error> failed(int code, const std::string& what) const {
    const katana::Error error = connection_.error(code, {});
    return std::unexpected(error.within(fmt::format("{}: {}", path_, what)));
  }

  Connection& connection_;
  const std::string& path_;
};

}  // namespace

katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how) {
  const std::function<Instant()> clock = &monotonic_now;
  const Access access = options.create ? Access::create : Access::write;
  const auto connection = Connection::open(options, access, clock);
  if (!connection) return std::unexpected(connection.error());
  if (const int code = (*connection)->renew_log(); code != SQLITE_OK) {
    return std::unexpected((*connection)->error(code, {}));
  }
  return migrate(**connection, options, how);
}

katana::Result<MigrationReport> migrate(Connection& connection, const Options& options,
                                        const MigrateOptions& how) {
  constexpr Duration short_wait = milliseconds(200);
  connection.wait_for_locks(how.opening.is_repeated ? std::min(options.busy_wait, short_wait)
                                                    : options.busy_wait);
  return Migrator(connection, options.path).run(how);
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
