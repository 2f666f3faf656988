#include "apps/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "apps/option_words.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/text/columns.hpp"
#include "katana/base/text/nearest_name.hpp"

namespace command_line {
namespace {

std::string names_of(const CLI::Option& flag) {
  std::string names;
  for (const std::string& each : flag.get_snames()) names += "-" + each + ", ";
  for (const std::string& each : flag.get_lnames()) names += "--" + each + ", ";
  names.resize(names.size() - 2);
  const std::string value = value_name(flag);
  return value.empty() ? names : names + " " + value;
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string line = "Usage: " + name;
  if (flags_of(app).size() > 1) line += " [FLAG…]";  // more than --help
  for (const CLI::Option* const each : positionals_of(app)) {
    std::string word = each->get_name(true);
    if (each->get_items_expected_max() > 1) word += "…";
    line += each->get_required() ? " " + word : " [" + word + "]";
  }
  if (!subcommands_of(app).empty()) {
    line += app.get_require_subcommand_min() == 0 ? " [COMMAND]" : " COMMAND";
  }
  return line;
}

std::string section(std::string_view title, const std::vector<katana::HelpRow>& rows) {
  return rows.empty() ? std::string() : fmt::format("\n{}:\n{}", title, katana::help_table(rows));
}

class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::vector<katana::HelpRow> arguments, flags, commands;
    for (const CLI::Option* const each : positionals_of(*app)) {
      arguments.push_back({each->get_name(true), meaning_of(*each)});
    }
    for (const CLI::Option* const each : flags_of(*app)) {
      flags.push_back({names_of(*each), meaning_of(*each)});
    }
    for (const CLI::App* const each : subcommands_of(*app)) {
      commands.push_back({each->get_name(), each->get_description()});
    }
    std::string text = katana::wrapped(app->get_description());
    if (!text.empty()) text += "\n\n";
    text += katana::wrapped(usage_of(*app, name.empty() ? app->get_name() : name)) + "\n";
    text +=
        section("Arguments", arguments) + section("Flags", flags) + section("Commands", commands);
    if (!app->get_footer().empty()) text += "\n" + app->get_footer() + "\n";
    return text;
  }
};

void set_formatter(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& formatter) {
  app.formatter(formatter);
  for (CLI::App* const each : app.get_subcommands([](CLI::App*) { return true; })) {
    set_formatter(*each, formatter);
  }
}

// The command that was named, or the program.
const CLI::App& command_of(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string words_of_extra(const CLI::App& app, const std::string& extra) {
  if (!extra.starts_with('-')) return fmt::format("unexpected argument '{}'", extra);
  std::vector<std::string> names;
  for (const CLI::Option* const each : flags_of(command_of(app))) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("unknown flag '{}'{}", extra,
                     did_you_mean(extra.substr(0, extra.find('=')), names));
}

// CLI11's words for the commonest mistakes in words for users; others as they are.
std::string words_of(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (const auto extras = app.remaining(true); !extras.empty()) {
      return words_of_extra(app, extras.front());
    }
  }
  const std::string text = error.what();
  std::smatch found;
  static const std::regex range(R"((\S+): Value (\S*) not in range (\S+) to (\S+))");
  if (std::regex_match(text, found, range)) {
    return fmt::format("{}: expected {} to {}, got '{}'", found[1].str(), found[3].str(),
                       found[4].str(), found[2].str());
  }
  static const std::regex conversion(R"(Could not convert: (\S+) = (.*))");
  if (std::regex_match(text, found, conversion)) {
    return fmt::format("{}: expected a number, got '{}'", found[1].str(), found[2].str());
  }
  static const std::regex missing(R"((\S+): 1 required .* missing)");
  if (std::regex_match(text, found, missing)) {
    return fmt::format("{} needs a value", found[1].str());
  }
  return text;
}

bool needs_command(const CLI::App& app) { return app.get_require_subcommand_min() != 0; }

}  // namespace

int fail(std::string_view program, int status, std::string_view message) {
  std::string line(message);
  std::ranges::replace(line, '\n', ' ');
  katana::print_error_line(fmt::format("{}: {}", program, line), katana::last_words_max);
  return status;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view meant = katana::nearest_name(typed, views);
  return meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

void use_words(CLI::App& app) { set_formatter(app, std::make_shared<HelpFormatter>()); }

std::string words_of_mistake(const CLI::App& app, const CLI::ParseError& error) {
  return fmt::format("{} (see --help)", words_of(app, error));
}

std::optional<int> parse(CLI::App& app, int count, char** arguments) {
  use_words(app);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = command_of(app);
    if (needs_command(command) && command.get_subcommands().empty() &&
        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      std::fputs(app.help().c_str(), stderr);
      return 2;
    }
    return fail(app.get_name(), 2, words_of_mistake(app, error));
  }
  return std::nullopt;
}

}  // namespace command_line

// SPDX-License-Identifier: Apache-2.0
