#include "katana_tool/program_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <system_error>
#include <vector>

#include "katana_tool/files.hpp"

namespace katana::tool {
namespace {

struct ProgramFlags {
  std::string program;
  std::string config_file;
  std::vector<std::string> sets;
};

// Becomes the program; returns only when that fails.
Result<int> ask_program(const ProgramFlags& flags, const char* question) {
  std::string program = flags.program;
  if (program.empty()) {
    auto name = project_name();
    if (!name) return std::unexpected(name.error());
    program = "build/" + *name;
    const std::string file = *name + ".yaml";
    if (flags.config_file.empty() && std::filesystem::exists(file)) {
      return ask_program({program, file, flags.sets}, question);
    }
  }
  std::vector<std::string> words = {program, question};
  if (!flags.config_file.empty()) words.insert(words.end(), {"--config", flags.config_file});
  for (const std::string& each : flags.sets) words.insert(words.end(), {"--set", each});
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return fail(Code::unavailable,
              fmt::format("cannot run '{}': {}; build it (make build), or name it with --program",
                          program, std::generic_category().message(errno)));
}

}  // namespace

Result<std::string> project_name() {
  const auto text = read_file("CMakeLists.txt");
  std::smatch found;
  static const std::regex project(R"((?:^|\n)\s*project\s*\(\s*([A-Za-z0-9_.+-]+))");
  if (!text || !std::regex_search(*text, found, project)) {
    return fail(Code::not_found,
                "there is no CMakeLists.txt with a project(NAME) here; run this in the folder of a "
                "project, or make one: katana new NAME");
  }
  return found[1].str();
}

void add_program_commands(CLI::App& app, std::function<int()>& chosen) {
  const auto flags = std::make_shared<ProgramFlags>();
  const auto add = [&chosen, flags](CLI::App& to, const char* name, const char* about,
                                    const char* question) {
    CLI::App* const command = to.add_subcommand(name, about);
    command
        ->add_option("--program", flags->program,
                     "program to ask; default: build/NAME of project(NAME)")
        ->type_name("PROGRAM");
    command
        ->add_option("--config", flags->config_file,
                     "configuration file; default: NAME.yaml if it exists")
        ->type_name("FILE");
    command->add_option("--set", flags->sets,
                        "set one value of the configuration; may be repeated");
    command->callback([&chosen, flags, question] {
      chosen = [flags, question] {
        const auto status = ask_program(*flags, question);
        if (status) return *status;
        fmt::print(stderr, "katana: {}\n", status.error().describe());
        return status.error().code() == Code::unavailable ? 1 : 2;
      };
    });
  };
  add(app, "routes", "Print the routes of the project's program.", "--print-routes");
  CLI::App* const config =
      app.add_subcommand("config", "Print or check the configuration of the project's program.");
  config->require_subcommand(1);
  add(*config, "print", "Print every setting with its value and its source.", "--print-config");
  add(*config, "check", "Validate the configuration; status 2 if it is invalid.", "--check-config");
  add(*config, "schema", "Print the JSON Schema of the configuration for editors.",
      "--print-schema");
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
