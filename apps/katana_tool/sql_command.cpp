#include "katana_tool/sql_command.hpp"

#include <memory>

#include "katana_tool/sql/run.hpp"

namespace katana::tool {

void add_sql_command(CLI::App& app, std::function<int()>& chosen) {
  const auto flags = std::make_shared<sql::RunOptions>();
  CLI::App* const group =
      app.add_subcommand("sql", "Check the SQL of the project's program against its migrations.");
  group->require_subcommand(1);
  CLI::App* const command = group->add_subcommand(
      "check", "Check statements against the schema: syntax, names, types and nulls.");
  command->add_option("TARGET", flags->targets,
                      "files that CMake's katana_check_sql() wrote; default: all of the build");
  command->add_option("--build", flags->build, "build folder")->capture_default_str();
  command->add_option("--database", flags->database,
                      "URL of a PostgreSQL to ask, which is not changed; default: start one");
  command->add_flag("--update", flags->update,
                    "ask the databases, and write sql.lock for builds without a database");
  command->add_flag("--warnings-as-errors", flags->warnings_as_errors,
                    "treat every finding as an error");
  command->add_flag("--json", flags->json, "print the findings as a JSON array");
  command->add_option("--stamp", flags->stamp, "file to write if there is no error, for builds");
  command->callback([flags, &chosen] { chosen = [flags] { return sql::run_check(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
