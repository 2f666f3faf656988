#include "apps/option_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace command_line {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* each) { return each->nonpositional() && !each->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return each->get_positional(); });
}

// CLI11 keeps "TEXT:{sqlite,none}": the type, and the set as its validator describes it.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name == "UINT" || name == "INT" || name == "FLOAT" ? "N" : name;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}', open);
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

// CLI11 keeps "UINT:UINT in [1 - 1024]".
std::string range_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  constexpr std::string_view before = " in [", between = " - ";
  const std::size_t open = type.find(before);
  const std::size_t middle = type.find(between, open);
  const std::size_t close = type.find(']', middle);
  if (open == type.npos || middle == type.npos || close == type.npos) return {};
  const std::size_t least_at = open + before.size(), most_at = middle + between.size();
  return fmt::format("{}–{}", type.substr(least_at, middle - least_at),
                     type.substr(most_at, close - most_at));
}

std::string meaning_of(const CLI::Option& option) {
  std::string text = option.get_description();
  const auto choices = choices_of(option);
  if (text.empty() && !choices.empty()) text = fmt::format("{}", fmt::join(choices, ", "));
  std::vector<std::string> facts;
  if (std::string range = range_of(option); !range.empty()) facts.push_back(std::move(range));
  if (!option.get_default_str().empty()) {
    facts.push_back(fmt::format("default: {}", option.get_default_str()));
  }
  if (!option.get_envname().empty()) {
    facts.push_back(fmt::format("environment: {}", option.get_envname()));
  }
  if (option.get_required() && option.nonpositional()) facts.emplace_back("required");
  if (!facts.empty()) text += fmt::format(" ({})", fmt::join(facts, "; "));
  return text;
}

}  // namespace command_line

// SPDX-License-Identifier: Apache-2.0
