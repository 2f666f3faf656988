// katana: projects that use KATANA, and what belongs to their programs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command_line.hpp"
#include "apps/option_words.hpp"
#include "katana_tool/add_command.hpp"
#include "katana_tool/audit_command.hpp"
#include "katana_tool/completion.hpp"
#include "katana_tool/crash_command.hpp"
#include "katana_tool/dev_command.hpp"
#include "katana_tool/doctor_command.hpp"
#include "katana_tool/lint_command.hpp"
#include "katana_tool/log_command.hpp"
#include "katana_tool/manual.hpp"
#include "katana_tool/migrate_command.hpp"
#include "katana_tool/new_command.hpp"
#include "katana_tool/openapi/openapi_command.hpp"
#include "katana_tool/password_command.hpp"
#include "katana_tool/profile_command.hpp"
#include "katana_tool/program_command.hpp"
#include "katana_tool/queue_command.hpp"
#include "katana_tool/simulate_command.hpp"
#include "katana_tool/sql_command.hpp"
#include "katana_tool/stack_command.hpp"
#include "katana_tool/top_command.hpp"

namespace {

using namespace katana::tool;

// katana-log and katana-migrate are links to this program: their names of before there was one.
const char* subcommand_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "katana-log") return "log";
  if (name == "katana-migrate") return "migrate";
  return nullptr;
}

// Answers the requests of the build and of the scripts of shells; --help does not list them.
std::optional<int> answer(const CLI::App& app, std::span<const char* const> words) {
  if (words.empty()) return std::nullopt;
  if (std::string_view(words[0]) == "--complete") {
    fmt::print("{}", complete(app, words.subspan(1)));
  } else if (std::string_view(words[0]) == "--manual") {
    fmt::print("{}", manual_page(app));
  } else {
    return std::nullopt;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

// Returns a message about the first word that is no command, which CLI11 would only call missing.
std::optional<std::string> unknown_command(const CLI::App& app,
                                           std::span<const char* const> words) {
  const CLI::App* at = &app;
  for (const std::string_view word : words) {
    if (word.starts_with('-') || at->get_require_subcommand_min() == 0) return std::nullopt;
    const auto found =
        at->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
    if (found.empty()) {
      std::vector<std::string> names;
      for (const CLI::App* const each : command_line::subcommands_of(*at)) {
        names.push_back(each->get_name());
      }
      const std::string command =
          at == &app ? app.get_name() : app.get_name() + " " + at->get_name();
      return fmt::format("there is no command '{}'{} ('{} --help' lists all)", word,
                         command_line::did_you_mean(word, names), command);
    }
    at = found.front();
  }
  return std::nullopt;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Create, extend and run programs that use KATANA.", "katana");
  app.set_version_flag("--version", "katana " KATANA_VERSION);
  app.require_subcommand(1);
  std::function<int()> chosen;
  add_new_command(app, chosen);
  add_add_command(app, chosen);
  add_dev_command(app, chosen);
  add_program_commands(app, chosen);
  add_sql_command(app, chosen);
  add_openapi_commands(app, chosen);
  add_migrate_command(app, chosen);
  add_queue_command(app, chosen);
  add_source_lint_command(app, chosen);
  add_log_command(app, chosen);
  add_audit_command(app, chosen);
  add_top_command(app, chosen);
  add_stack_command(app, chosen);
  add_doctor_command(app, chosen);
  add_crash_command(app, chosen);
  add_profile_command(app, chosen);
  add_password_command(app, chosen);
  add_simulate_command(app, chosen);
  CLI::App* parsed = &app;
  if (const char* const alone = subcommand_of(arguments[0])) {
    parsed = app.get_subcommand(alone);
    parsed->name(fmt::format("katana-{}", alone));
    parsed->set_version_flag("--version", fmt::format("katana-{} {}", alone, KATANA_VERSION));
  }
  const std::span words(arguments + 1, count > 0 ? static_cast<std::size_t>(count) - 1 : 0);
  if (const auto status = answer(*parsed, words)) return *status;
  if (const auto unknown = unknown_command(*parsed, words)) {
    return command_line::fail("katana", 2, *unknown);
  }
  if (const auto status = command_line::parse(*parsed, count, arguments)) return *status;
  try {
    return chosen();
  } catch (const std::exception& error) {
    return command_line::fail("katana", 1, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
