#include "katana_tool/migrate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apps/command_line.hpp"
#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/sqlite/migrate.hpp"

namespace katana::tool {
namespace {

std::string migrate_name = "katana migrate";  // or katana-migrate, as it was called

int fail_migrate(int status, std::string_view message) {
  return command_line::fail(migrate_name, status, message);
}

struct MigrateFlags {
  std::string database;
  std::string folder;
  bool dry_run = false;
  double wait_s = 30;
};

// `where`: the name of the database in the output; a URL may hold a password.
int report(const Result<database::MigrationReport>& done, std::string_view where,
           const MigrateFlags& flags) {
  if (!done) return fail_migrate(1, done.error().describe());
  for (const database::Migration& migration : done->applied) {
    fmt::print("{} {}\n", flags.dry_run ? "would apply" : "applied", migration.file);
  }
  fmt::print("{}: {} migrations before, {} {}\n", where, done->before, done->applied.size(),
             flags.dry_run ? "to apply; nothing was changed" : "applied");
  return std::fflush(stdout) == 0 ? 0 : fail_migrate(1, "cannot write to standard output");
}

int run(const MigrateFlags& flags) {
  const Duration wait = milliseconds(static_cast<std::int64_t>(flags.wait_s * 1000));
  const std::string_view url = flags.database;
  if (url.starts_with("postgresql:") || url.starts_with("postgres:")) {
    const auto options = database::postgres::Options::from_url(url);
    if (!options) return fail_migrate(2, options.error().within("--database").describe());
    return report(
        database::postgres::migrate(
            *options, {.folder = flags.folder, .dry_run = flags.dry_run, .lock_wait = wait}),
        options->describe(), flags);
  }
  constexpr std::string_view scheme = "sqlite:";
  database::sqlite::Options options;
  options.path = url.substr(url.starts_with(scheme) ? scheme.size() : 0);
  options.busy_wait = wait;
  return report(
      database::sqlite::migrate(options, {.folder = flags.folder, .dry_run = flags.dry_run}),
      options.path, flags);
}

}  // namespace

void add_migrate_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<MigrateFlags>();
  CLI::App* const command = app.add_subcommand(
      "migrate", "Apply the SQL files that were not applied yet (0001_name.sql, …): all or none.");
  command
      ->add_option("--database", flags->database,
                   "SQLite file (FILE or sqlite:FILE), created if it does not exist, or "
                   "postgresql://USER@HOST/NAME")
      ->type_name("FILE")
      ->required();
  command->add_option("--dir", flags->folder, "folder of the migrations")
      ->type_name("DIRECTORY")
      ->required();
  command->add_flag("--dry-run", flags->dry_run, "apply them, report, and roll back");
  command->add_option("--wait", flags->wait_s, "seconds to wait for the lock of another program")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command->callback([flags, command, &chosen] {
    chosen = [flags, command] {
      if (command->get_name() != "migrate") migrate_name = command->get_name();
      return run(*flags);
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
