#include "katana/database/postgres/migrate.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>

#include "katana/base/secrets.hpp"

namespace katana::database::postgres {
namespace {

struct Close {
  void operator()(PGconn* pg) const noexcept { PQfinish(pg); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Close>;

// "katana" as a number: what the advisory lock is called in each database.
constexpr const char* take_lock = "SELECT pg_advisory_xact_lock(118145427595873)";
constexpr const char* table =
    "CREATE TABLE IF NOT EXISTS katana_migrations (number INTEGER PRIMARY KEY, file TEXT NOT NULL, "
    "checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())";

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

class Migrator {
 public:
  Migrator(const Options& options, PGconn* pg) : where_(options.describe()), pg_(pg) {}

  katana::Result<MigrationReport> run(const MigrateOptions& how) {
    const auto all = how.bundled.empty() ? read_migrations(how.folder)
                                         : katana::Result<std::vector<Migration>>(how.bundled);
    if (!all) return std::unexpected(all.error());
    const auto files = migrations_for("postgres", *all);
    if (!files) return std::unexpected(files.error());
    const std::string wait = fmt::format("SET LOCAL lock_timeout = {}", how.lock_wait.count_ms());
    for (const char* const first : {"BEGIN", wait.c_str(), take_lock}) {
      if (const auto good = execute(first); !good) {
        return failed(good.error(), "cannot take the lock of migrations");
      }
    }
    auto report = apply(*files);
    const bool keep = report && !how.dry_run;
    const auto ended = execute(keep ? "COMMIT" : "ROLLBACK");
    if (keep && !ended) return failed(ended.error(), "cannot commit the migrations");
    return report;
  }

 private:
  katana::Result<void> execute(const char* text) {
    const Result result(PQexec(pg_, text));
    return judge(result.get());
  }
  katana::Result<void> judge(const PGresult* result) const {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
      return {};
    }
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {
      return katana::fail(Code::invalid_argument, "COPY from or to the client is no migration");
    }
    return katana::fail(Code::internal, one_line(PQerrorMessage(pg_)));
  }
  std::unexpected<katana::Error> failed(const katana::Error& error, std::string_view what) const {
    return std::unexpected(error.within(fmt::format("{}: {}", where_, what)));
  }

  katana::Result<std::vector<Migration>> applied() {
    const Result result(
        PQexec(pg_, "SELECT number, file, checksum FROM katana_migrations ORDER BY number"));
    if (const auto good = judge(result.get()); !good) return std::unexpected(good.error());
    std::vector<Migration> list;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      const std::string_view number = PQgetvalue(result.get(), row, 0);
      Migration each;
      (void)std::from_chars(number.data(), number.data() + number.size(), each.number);
      each.file = PQgetvalue(result.get(), row, 1);
      each.checksum = PQgetvalue(result.get(), row, 2);
      list.push_back(std::move(each));
    }
    return list;
  }

  katana::Result<MigrationReport> apply(const std::vector<Migration>& files) {
    if (const auto good = execute(table); !good) {
      return failed(good.error(), "cannot make the table katana_migrations");
    }
    const auto before = applied();
    if (!before) return failed(before.error(), "cannot read the table katana_migrations");
    auto plan = plan_migrations(files, *before);
    if (!plan) return std::unexpected(plan.error().within(where_));
    for (const Migration& migration : *plan) {
      if (const auto good = apply(migration); !good) return std::unexpected(good.error());
    }
    return MigrationReport{*std::move(plan), before->size()};
  }

  // Every statement of the file, and a row that says so.
  katana::Result<void> apply(const Migration& migration) {
    if (const auto good = execute(migration.text.c_str()); !good) {
      return failed(good.error(), migration.file);
    }
    // A script that ended the transaction has no lock any more, and cannot be undone.
    if (PQtransactionStatus(pg_) != PQTRANS_INTRANS) {
      return katana::fail(Code::invalid_argument,
                          fmt::format("{}: {} ended the transaction", where_, migration.file));
    }
    const std::string number = std::to_string(migration.number);
    const char* const values[] = {number.c_str(), migration.file.c_str(),
                                  migration.checksum.c_str()};
    const Result noted(PQexecParams(
        pg_, "INSERT INTO katana_migrations (number, file, checksum) VALUES ($1, $2, $3)", 3,
        nullptr, values, nullptr, nullptr, 0));
    if (const auto good = judge(noted.get()); !good) {
      return failed(good.error(), "cannot note " + migration.file);
    }
    return {};
  }

  const std::string where_;
  PGconn* const pg_;
};

}  // namespace

katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how) {
  if (const auto good = check(options); !good) return std::unexpected(good.error());
  auto password = password_of(options);
  if (!password) return std::unexpected(password.error());
  std::vector<Target> targets;
  for (const Host& host : options.hosts) targets.push_back({host.name, host.port});
  Options patient = options;
  patient.parameters.insert(
      patient.parameters.begin(),
      {"connect_timeout", std::to_string(options.connect_timeout.count_ms() / 1000 + 1)});
  const ConnectParameters parameters(patient, targets, *password);
  erase_secret(*password);
  const std::unique_ptr<PGconn, Close> pg(
      PQconnectdbParams(parameters.keywords(), parameters.values(), 0));
  if (pg == nullptr || PQstatus(pg.get()) != CONNECTION_OK) {
    return katana::fail(
        Code::unavailable,
        fmt::format("cannot connect to {}: {}", options.describe(),
                    pg == nullptr ? "no memory" : one_line(PQerrorMessage(pg.get()))));
  }
  PQsetNoticeReceiver(pg.get(), [](void*, const PGresult*) noexcept {}, nullptr);
  return Migrator(options, pg.get()).run(how);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
