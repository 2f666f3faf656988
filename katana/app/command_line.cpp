#include "katana/app/command_line.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "katana/base/text/columns.hpp"
#include "katana/base/text/nearest_name.hpp"

namespace katana::app {
namespace {

struct Flag {
  std::string_view name;
  std::string_view value;  // its placeholder in the help; empty: the flag takes no value
  std::string_view help;
};
constexpr Flag flags[] = {
    {"--config", "FILE", "read the configuration from this YAML file"},
    {"--set", "KEY=VALUE", "set one value of the configuration; may be repeated"},
    {"--port", "PORT", "short for --set http.port=PORT"},
    {"--database", "URL", "short for --set database.url=URL"},
    {"--print-config", "", "print every value and its source, and exit"},
    {"--check-config", "",
     "validate the configuration, report insecure settings, and exit with status 0 or 2"},
    {"--strict", "", "fail if a setting is insecure; with --check-config: exit with status 1"},
    {"--print-defaults", "", "print every key with its default and its meaning as YAML, and exit"},
    {"--print-schema", "", "print the JSON Schema of the configuration for editors, and exit"},
    {"--print-routes", "", "print all routes and exit"},
    {"--print-openapi", "", "print the OpenAPI document of the service and exit; opens nothing"},
    {"--document", "NAME", "with --print-openapi: the document to print, if there are several"},
    {"--health-check", "", "query /health of the running program and exit with status 0 or 1"},
    {"--list-engines", "", "print every engine and whether it runs here, and exit"},
    {"--version", "", "print the version and exit"},
    {"--help", "", "print this help and exit"},
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

// The Error for a flag that does not exist. It suggests the flag with the nearest name.
Error unknown_flag(std::string_view argument, std::string_view name, bool has_database) {
  if (!name.starts_with('-')) {
    return Error(Code::invalid_argument,
                 fmt::format("unexpected argument '{}': this program takes flags only (see --help)",
                             argument));
  }
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) {
    if (is_there(flag, has_database)) names.push_back(flag.name);
  }
  const std::string hint = nearest_hint(name, names);
  return Error(Code::invalid_argument,
               fmt::format("unknown flag '{}'{} (see --help)", argument, hint));
}

void take(CommandLine& line, std::string_view name, std::string value) {
  if (name == "--config") line.config = std::move(value);
  if (name == "--set") line.add_set(std::move(value));
  if (name == "--port") line.add_set("http.port=" + value, "--port");
  if (name == "--database") line.add_set("database.url=" + value, "--database");
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
      return std::unexpected(unknown_flag(argument, argument.substr(0, equals), has_database));
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
  std::string text = about.empty() ? "" : wrapped(about) + "\n\n";
  text += fmt::format("Usage: {} [FLAG…]\n\n", name);
  std::vector<HelpRow> rows;
  for (const Flag& flag : flags) {
    if (!is_there(flag, has_database)) continue;
    const std::string_view space = flag.value.empty() ? "" : " ";
    rows.push_back({fmt::format("{}{}{}", flag.name, space, flag.value), std::string(flag.help)});
  }
  text += help_table(rows);
  if (environment_prefix.empty()) return text;
  return text + "\n" +
         wrapped(fmt::format("Environment variables set values, too: {0}HTTP__PORT=9000 and "
                             "{0}PORT=9000 both mean --set http.port=9000.",
                             environment_prefix)) +
         "\n";
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
