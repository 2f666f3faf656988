// katana-migrate: brings an SQLite file to the form that a folder of migrations describes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "apps/command_line.hpp"
#include "katana/database/sqlite/migrate.hpp"

namespace {

using namespace katana;

constexpr const char* program = "katana-migrate";

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

int main(int count, char** arguments) {
  CLI::App app("Applies numbered SQL files (0001_name.sql, …), each once, all or none.", program);
  Flags flags;
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  app.add_option("--database", flags.database, "the SQLite file; made if it is missing")
      ->required();
  app.add_option("--dir", flags.folder, "the folder of the migrations")->required();
  app.add_flag("--dry-run", flags.dry_run, "do everything, report it, and undo it");
  app.add_option("--wait", flags.wait_s, "seconds to wait for the lock of another program")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  try {
    return run(flags);
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
