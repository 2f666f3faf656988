#include "katana/stores/database/postgres/migrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana/stores/database/postgres/script.hpp"

namespace katana::database::postgres {
namespace {

// The key of the advisory lock in each database: "katana" as a number.
constexpr const char* take_lock = "SELECT pg_advisory_xact_lock(118145427595873)";
// Finds the existing table with its schema, whatever stands first in search_path; empty: there is
// none.
constexpr const char* find_table =
    "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN "
    "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = "
    "pg_catalog.to_regclass('katana_migrations')";
constexpr const char* make_table =
    "CREATE TABLE IF NOT EXISTS katana_migrations (number INTEGER PRIMARY KEY, file TEXT NOT NULL, "
    "checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())";
constexpr const char* forget_settings = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL";
constexpr Bytes unsafe_use = "55P04";  // of a value that was added to an enum in this transaction
constexpr Duration short_wait = seconds(2);

class Migrator {
 public:
  Migrator(const Options& options, BlockingSession& session, const MigrateOptions& how)
      : where_(options.describe()), session_(session), how_(how) {}

  katana::Result<MigrationReport> run() {
    const auto all = how_.bundled.empty() ? read_migrations(how_.folder)
                                          : katana::Result<std::vector<Migration>>(how_.bundled);
    if (!all) return std::unexpected(all.error());
    const auto files = migrations_for("postgres", *all);
    if (!files) return std::unexpected(files.error());
    MigrationReport report;
    for (std::size_t most = files->size();;) {
      auto pass = run_pass(*files, most);
      if (!pass) return std::unexpected(pass.error());
      if (pass->before_commit) {
        most = *pass->before_commit;
        continue;
      }
      if (report.applied.empty()) report.before = pass->already;
      report.applied.insert(report.applied.end(), pass->applied.begin(), pass->applied.end());
      if (pass->is_whole) return report;
      most = files->size();
    }
  }

 private:
  struct Pass {
    std::vector<Migration> applied;
    std::size_t already = 0;
    bool is_whole = true;
    // Set when nothing was done: this many files have to be committed before the next can run.
    std::optional<std::size_t> before_commit = {};
  };

  katana::Result<void> execute(Bytes text) {
    const auto done = session_.ask(text);
    return done ? katana::Result<void>() : std::unexpected(done.error());
  }
  std::unexpected<katana::Error> failed(const katana::Error& error, std::string_view what) const {
    return std::unexpected(error.within(fmt::format("{}: {}", where_, what)));
  }
  std::string wait_for_locks() const {
    const Duration wait =
        how_.opening.is_repeated ? std::min(how_.lock_wait, short_wait) : how_.lock_wait;
    return fmt::format("SET LOCAL lock_timeout = {}", wait.count_ms());
  }

  // Runs one transaction, with no more than the first `most` of the files.
  katana::Result<Pass> run_pass(const std::vector<Migration>& files, std::size_t most) {
    table_.clear();  // a pass before this one may have undone it
    const std::string wait = wait_for_locks();
    for (const Bytes first : {Bytes("BEGIN"), Bytes(wait), Bytes(take_lock)}) {
      if (const auto good = execute(first); !good) {
        return failed(good.error(), "cannot take the lock of migrations");
      }
    }
    if (how_.opening.on_reached) how_.opening.on_reached();
    auto pass = apply(files, most);
    const bool keep = pass && !pass->before_commit && !how_.dry_run;
    if (!pass && pass.error().code() == Code::cancelled) return pass;
    const auto ended = execute(keep ? "COMMIT" : "ROLLBACK");
    if (keep && !ended) return failed(ended.error(), "cannot commit the migrations");
    if (keep && !pass->applied.empty() && how_.opening.on_migrated) {
      how_.opening.on_migrated(pass->applied);
    }
    return pass;
  }

  katana::Result<Pass> apply(const std::vector<Migration>& files, std::size_t most) {
    const auto before = applied();
    if (!before) return std::unexpected(before.error());
    auto plan = plan_migrations(files, *before);
    if (!plan) return std::unexpected(plan.error().within(where_));
    for (const Migration& each : *plan) {
      if (const auto good = check(each); !good) return std::unexpected(good.error());
    }
    Pass pass{.applied = {}, .already = before->size()};
    for (Migration& each : *plan) {
      const std::size_t index = pass.already + pass.applied.size();
      if (index == most) {
        pass.is_whole = false;
        return pass;
      }
      each.began = monotonic_now();
      if (const auto good = apply(each); !good) {
        if (session_.refusal().state != unsafe_use || pass.applied.empty()) {
          return std::unexpected(good.error());
        }
        // A dry run cannot check the files behind a commit.
        if (how_.dry_run) return Pass{.applied = *std::move(plan), .already = pass.already};
        return Pass{.applied = {}, .before_commit = index};
      }
      each.ended = monotonic_now();
      pass.applied.push_back(each);
    }
    return pass;
  }

  // The migrations in the table, which is made if it is not there.
  katana::Result<std::vector<Migration>> applied() {
    for (int tries = 0; table_.empty(); ++tries) {
      const auto found = session_.ask(find_table);
      if (!found) return failed(found.error(), "cannot look for the table katana_migrations");
      if (!found->empty()) {
        table_ = found->front().front();
      } else if (const auto made = execute(make_table); !made || tries > 0) {
        return failed(
            made ? katana::Error(Code::internal, "search_path names no schema") : made.error(),
            "cannot make the table katana_migrations");
      }
    }
    const auto rows =
        session_.ask(fmt::format("SELECT number, file, checksum FROM {} ORDER BY number", table_));
    if (!rows) return failed(rows.error(), "cannot read the table katana_migrations");
    std::vector<Migration> list;
    for (const std::vector<std::string>& row : *rows) {
      const std::string& number = row.at(0);
      Migration each;
      (void)std::from_chars(number.data(), number.data() + number.size(), each.number);
      each.file = row.at(1);
      each.checksum = row.at(2);
      list.push_back(std::move(each));
    }
    return list;
  }

  // Checks a script before any statement runs: one that ends the transaction would lose the lock,
  // and could not be undone.
  katana::Result<void> check(const Migration& migration) const {
    const auto found = refused_statement_in(migration.text);
    if (!found) return {};
    constexpr const char* rows =
        "has rows that only psql reads: write INSERT (pg_dump --inserts), or leave them out "
        "(--schema-only)";
    constexpr const char* ends =
        "would begin or end the transaction that all migrations are applied in: remove it";
    constexpr const char* command =
        "is a command of psql, which no other program has: remove the line";
    using Kind = ScriptStatement::Kind;
    const char* const why = found->kind == Kind::client_rows ? rows
                            : found->kind == Kind::of_psql   ? command
                                                             : ends;
    return katana::fail(Code::invalid_argument,
                        fmt::format("{}: {}, line {}: {} {}", where_, migration.file, found->line,
                                    found->words, why));
  }

  // Runs every statement of the file, and records the migration as a row.
  katana::Result<void> apply(const Migration& migration) {
    const std::string script = without_restrictions(migration.text);
    if (const auto good = execute(script); !good) {
      const std::size_t character = session_.refusal().character;
      const std::string line =
          character > 0 ? fmt::format(", line {}", line_of(script, character)) : std::string();
      return failed(good.error(), migration.file + line);
    }
    if (!session_.in_transaction()) {
      return katana::fail(Code::invalid_argument,
                          fmt::format("{}: {} ended the transaction", where_, migration.file));
    }
    const std::string wait = wait_for_locks();
    for (const Bytes each : {Bytes(forget_settings), Bytes(wait)}) {
      if (const auto good = execute(each); !good) {
        return failed(good.error(), "cannot reset the session behind " + migration.file);
      }
    }
    const std::vector<std::string> values = {std::to_string(migration.number), migration.file,
                                             migration.checksum};
    const std::string note =
        fmt::format("INSERT INTO {} (number, file, checksum) VALUES ($1, $2, $3)", table_);
    if (const auto noted = session_.ask(note, values); !noted) {
      return failed(noted.error(), "cannot note " + migration.file);
    }
    return {};
  }

  const std::string where_;
  BlockingSession& session_;
  const MigrateOptions& how_;
  std::string table_;  // with its schema
};

}  // namespace

katana::Result<MigrationReport> migrate(const Options& options, const MigrateOptions& how) {
  if (const auto good = check(options); !good) return std::unexpected(good.error());
  auto session = BlockingSession::connect(options, how.opening.stop);
  if (!session) return std::unexpected(session.error());
  return Migrator(options, *session, how).run();
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
