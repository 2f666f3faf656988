#include "katana/app/command_line.hpp"

#include <fmt/format.h>

#include <string_view>

namespace katana::app {
namespace {

struct Flag {
  std::string_view name;
  std::string_view value;  // what stands for it in the help; empty: it takes none
  std::string_view help;
};
constexpr Flag flags[] = {
    {"--config", "FILE", "configuration, as YAML"},
    {"--set", "KEY=VALUE", "one value of the configuration; as often as you like"},
    {"--port", "PORT", "the same as --set http.port=PORT"},
    {"--database", "URL", "the same as --set database.url=URL"},
    {"--print-config", "", "print every value and where it comes from, and end"},
    {"--check-config", "",
     "say what is wrong with the configuration, and what is insecure, and start nothing: 0 or 2"},
    {"--strict", "", "do not start with what is insecure; with --check-config: then 1"},
    {"--print-defaults", "", "print every key with its default and its meaning, as YAML, and end"},
    {"--print-schema", "", "print the JSON Schema of the configuration, for editors, and end"},
    {"--print-routes", "", "start all but the server, print every route, and end"},
    {"--print-openapi", "",
     "print the OpenAPI document of what is served, and end: nothing is opened for it"},
    {"--document", "NAME", "with --print-openapi: of several documents, this one"},
    {"--health-check", "",
     "ask the program that runs with this configuration for /health, and end: 0 or 1"},
    {"--list-engines", "", "print every engine and whether it runs here, and end"},
    {"--version", "", "print the version, and end"},
    {"--help", "", "print this, and end"},
};

bool is_there(const Flag& flag, bool has_database) {
  return has_database || flag.name != "--database";
}

const Flag* find(std::string_view name, bool has_database) {
  for (const Flag& flag : flags) {
    if (flag.name == name && is_there(flag, has_database)) return &flag;
  }
  return nullptr;
}

void take(CommandLine& line, std::string_view name, std::string value) {
  if (name == "--config") line.config = std::move(value);
  if (name == "--set") line.sets.push_back(std::move(value));
  if (name == "--port") line.sets.push_back("http.port=" + value);
  if (name == "--database") line.sets.push_back("database.url=" + value);
  if (name == "--print-config") line.print_config = true;
  if (name == "--check-config") line.check_config = true;
  if (name == "--strict") line.strict = true;
  if (name == "--print-defaults") line.print_defaults = true;
  if (name == "--print-schema") line.print_schema = true;
  if (name == "--print-routes") line.print_routes = true;
  if (name == "--print-openapi") line.print_openapi = true;
  if (name == "--document") line.document = std::move(value);
  if (name == "--health-check") line.health_check = true;
  if (name == "--list-engines") line.list_engines = true;
  if (name == "--version") line.version = true;
  if (name == "--help") line.help = true;
}

}  // namespace

Result<CommandLine> CommandLine::parse(std::span<const char* const> arguments, bool has_database) {
  CommandLine line;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string_view argument = arguments[index];
    const std::size_t equals = argument.find('=');
    const Flag* const flag = find(argument.substr(0, equals), has_database);
    if (flag == nullptr) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' is no flag of this program (see --help)", argument));
    }
    const bool inside = equals != argument.npos;
    if (flag->value.empty() && inside) {
      return fail(Code::invalid_argument,
                  fmt::format("{} takes no value, got '{}' (see --help)", flag->name, argument));
    }
    if (flag->value.empty() || inside) {
      take(line, flag->name, inside ? std::string(argument.substr(equals + 1)) : "");
    } else if (index + 1 < arguments.size()) {
      take(line, flag->name, arguments[++index]);
    } else {
      return fail(Code::invalid_argument,
                  fmt::format("{} needs a value: {} {}", flag->name, flag->name, flag->value));
    }
  }
  return line;
}

std::string CommandLine::usage(const std::string& name, const std::string& about,
                               const std::string& environment_prefix, bool has_database) {
  std::string text = about.empty() ? "" : about + "\n\n";
  text += fmt::format("usage: {} [FLAG…]\n", name);
  for (const Flag& flag : flags) {
    if (!is_there(flag, has_database)) continue;
    text += fmt::format("  {:<18}{}\n", fmt::format("{} {}", flag.name, flag.value), flag.help);
  }
  if (environment_prefix.empty()) return text;
  return text + fmt::format(
                    "Every value may also be set by a variable: {0}HTTP__PORT=9000 is "
                    "--set http.port=9000, and so is {0}PORT=9000.\n",
                    environment_prefix);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
