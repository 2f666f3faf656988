#include "katana_tool/migrate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "apps/command_line.hpp"
#include "katana/database/sqlite/migrate.hpp"

namespace katana::tool {
namespace {

std::string program = "katana migrate";  // or katana-migrate, as it was called

int fail(int status, std::string_view message) {
  return command_line::fail(program, status, message);
}

struct Flags {
  std::string database;
  std::string folder;
  bool dry_run = false;
  double wait_s = 30;
};

int run(const Flags& flags) {
  database::sqlite::Options options;
  options.path = flags.database;
  options.busy_wait = milliseconds(static_cast<std::int64_t>(flags.wait_s * 1000));
  const auto report =
      database::sqlite::migrate(options, {.folder = flags.folder, .dry_run = flags.dry_run});
  if (!report) return fail(1, report.error().describe());
  for (const database::Migration& migration : report->applied) {
    fmt::print("{} {}\n", flags.dry_run ? "would apply" : "applied", migration.file);
  }
  fmt::print("{}: {} migrations before, {} {}\n", flags.database, report->before,
             report->applied.size(), flags.dry_run ? "to apply; nothing was changed" : "applied");
  return std::fflush(stdout) == 0 ? 0 : fail(1, "cannot write to standard output");
}

}  // namespace

void add_migrate_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* const command = app.add_subcommand(
      "migrate", "Apply numbered SQL files (0001_name.sql, …), each once, all or none.");
  command->add_option("--database", flags->database, "the SQLite file; made if it is missing")
      ->type_name("FILE")
      ->required();
  command->add_option("--dir", flags->folder, "the folder of the migrations")
      ->type_name("DIRECTORY")
      ->required();
  command->add_flag("--dry-run", flags->dry_run, "do everything, report it, and undo it");
  command->add_option("--wait", flags->wait_s, "seconds to wait for the lock of another program")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command->callback([flags, command, &chosen] {
    chosen = [flags, command] {
      if (command->get_name() != "migrate") program = command->get_name();
      return run(*flags);
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
