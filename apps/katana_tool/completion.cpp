#include "katana_tool/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "apps/option_words.hpp"

namespace katana::tool {
namespace {

using namespace command_line;

// The place of the cursor, as given by the words before it.
struct Place {
  const CLI::App* app;
  const CLI::Option* awaiting = nullptr;  // its value is what comes next
  std::set<const CLI::Option*> given = {};
  std::size_t positionals = 0;  // the positional arguments so far
  bool flags_ended = false;     // by "--"
};

const CLI::Option* flag_named(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* const each : flags_of(app)) {
    for (const std::string& known : each->get_lnames()) {
      if (name.substr(0, 2) == "--" && name.substr(2) == known) return each;
    }
    for (const std::string& known : each->get_snames()) {
      if (name.substr(0, 1) == "-" && name.substr(1) == known) return each;
    }
  }
  return nullptr;
}

const CLI::App* subcommand_named(const CLI::App& app, std::string_view name) {
  for (const CLI::App* const each : subcommands_of(app)) {
    if (each->get_name() == name) return each;
  }
  return nullptr;
}

void pass(Place& place, std::string_view word) {
  if (place.awaiting != nullptr) {
    place.awaiting = nullptr;
  } else if (word == "--") {
    place.flags_ended = true;
  } else if (word.starts_with('-') && word.size() > 1 && !place.flags_ended) {
    const std::size_t equals = word.find('=');
    const CLI::Option* const flag = flag_named(*place.app, word.substr(0, equals));
    if (flag == nullptr) return;
    place.given.insert(flag);
    if (equals == word.npos && !value_name(*flag).empty()) place.awaiting = flag;
  } else if (const CLI::App* const below = subcommand_named(*place.app, word)) {
    place = Place{.app = below};
  } else {
    ++place.positionals;
  }
}

void offer(std::string& lines, std::string_view begun, const std::string& word,
           std::string_view about) {
  if (word.starts_with(begun)) lines += fmt::format("{}\t{}\n", word, about);
}

// `before` stands in the same word, before the value: "--with=", or "websocket," of a list.
void offer_values(std::string& lines, const CLI::Option& option, std::string before,
                  std::string_view begun) {
  const std::size_t comma =
      option.get_delimiter() != 0 ? begun.rfind(option.get_delimiter()) : std::string_view::npos;
  std::vector<std::string> present;
  if (comma != begun.npos) {
    present = CLI::detail::split(std::string(begun.substr(0, comma)), option.get_delimiter());
    before += begun.substr(0, comma + 1);
    begun.remove_prefix(comma + 1);
  }
  for (const std::string& each : choices_of(option)) {
    if (std::ranges::find(present, each) != present.end() || !each.starts_with(begun)) continue;
    lines += fmt::format("{}{}\t{}\n", before, each, option.get_description());
  }
  const std::string name = value_name(option);
  if (name == "FILE" || name == "PROGRAM") lines += ":file\n";
  if (name == "DIRECTORY") lines += ":folder\n";
}

void offer_flags(std::string& lines, const Place& place, std::string_view begun) {
  for (const CLI::Option* const each : flags_of(*place.app)) {
    const bool again = each->get_items_expected_max() > 1;
    if (place.given.contains(each) && !again) continue;
    for (const std::string& name : each->get_lnames()) {
      offer(lines, begun, "--" + name, each->get_description());
    }
  }
}

}  // namespace

std::string complete(const CLI::App& app, std::span<const char* const> words) {
  if (words.empty()) return {};
  Place place{.app = &app};
  for (const char* const word : words.first(words.size() - 1)) pass(place, word);
  const std::string_view begun = words.back();
  std::string lines;
  if (place.awaiting != nullptr) {
    offer_values(lines, *place.awaiting, "", begun);
    return lines;
  }
  if (begun.starts_with('-') && !place.flags_ended) {
    const std::size_t equals = begun.find('=');
    const CLI::Option* const flag = flag_named(*place.app, begun.substr(0, equals));
    if (equals == begun.npos) {
      offer_flags(lines, place, begun);
    } else if (flag != nullptr) {
      offer_values(lines, *flag, std::string(begun.substr(0, equals + 1)),
                   begun.substr(equals + 1));
    }
    return lines;
  }
  for (const CLI::App* const each : subcommands_of(*place.app)) {
    offer(lines, begun, each->get_name(), each->get_description());
  }
  const auto positionals = positionals_of(*place.app);
  if (!positionals.empty()) {
    // The last of them may take all that is left.
    const std::size_t last = positionals.size() - 1;
    const bool more = positionals[last]->get_items_expected_max() > 1;
    if (place.positionals <= last || more) {
      offer_values(lines, *positionals[std::min(place.positionals, last)], "", begun);
    }
  }
  if (lines.empty() && begun.empty() && !place.flags_ended) offer_flags(lines, place, begun);
  return lines;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
