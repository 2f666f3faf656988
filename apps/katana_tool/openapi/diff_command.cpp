// katana openapi diff: what of a changed description breaks clients.
//
//   katana openapi diff old.yaml new.yaml           exit status 1 when something does
#include "katana/openapi/diff/diff.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"
#include "katana_tool/openapi/openapi_command.hpp"
#include "katana_tool/openapi/read_file.hpp"

namespace katana::tool {
namespace {

struct DiffFlags {
  std::string before, after, today;
  std::string fail_on = "breaking";
  bool shows_all = false;
  bool is_json = false;
};

std::string today() {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

void print_json(const std::vector<openapi::Change>& changes) {
  container::List list;
  for (const openapi::Change& each : changes) {
    list.emplace_back(container::Object{{"rule", each.rule},
                                        {"level", openapi::level_name(each.level)},
                                        {"operation", each.operation},
                                        {"words", each.words},
                                        {"place", each.place}});
  }
  fmt::print("{}\n", container::to_json(container::Value(std::move(list))));
}

int run_diff(const DiffFlags& flags) {
  const auto before = read_or_say("katana openapi diff", flags.before);
  const auto after = read_or_say("katana openapi diff", flags.after);
  if (!before || !after) return 2;
  const auto changes =
      openapi::compare(*before, *after, {.today = flags.today.empty() ? today() : flags.today});
  std::vector<openapi::Change> shown;
  std::size_t breaking = 0;
  std::size_t warnings = 0;
  for (const openapi::Change& each : changes) {
    breaking += each.level == openapi::Level::breaking ? 1 : 0;
    warnings += each.level == openapi::Level::warning ? 1 : 0;
    if (each.level != openapi::Level::info || flags.shows_all) shown.push_back(each);
  }
  if (flags.is_json) {
    print_json(shown);
  } else {
    for (const openapi::Change& each : shown) fmt::print("{}\n", each.describe());
    fmt::print("{} changes: {} breaking, {} warnings, {} others\n", changes.size(), breaking,
               warnings, changes.size() - breaking - warnings);
  }
  return breaking != 0 || (flags.fail_on == "warning" && warnings != 0) ? 1 : 0;
}

}  // namespace

void add_diff_command(CLI::App& openapi, std::function<int()>& chosen) {
  auto flags = std::make_shared<DiffFlags>();
  CLI::App* const diff = openapi.add_subcommand(
      "diff", "Compare two OpenAPI descriptions; status 1 if clients break.");
  diff->add_option("OLD", flags->before, "description that clients use today")
      ->type_name("FILE")
      ->required();
  diff->add_option("NEW", flags->after, "description that replaces it")
      ->type_name("FILE")
      ->required();
  diff->add_flag("--all", flags->shows_all, "list changes that break no client, too");
  diff->add_flag("--json", flags->is_json, "print the result as JSON");
  diff->add_option("--fail-on", flags->fail_on, "lowest level that gives status 1")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"breaking", "warning"}));
  diff->add_option("--today", flags->today, "day to compare x-sunset with")
      ->type_name("YYYY-MM-DD");
  diff->callback([flags, &chosen] { chosen = [flags] { return run_diff(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
