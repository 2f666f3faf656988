// katana openapi lint: what a good description does not have, by the rules of spectral:oas.
//
//   katana openapi lint api.yaml                    exit status 1 when there is something
#include "katana/openapi/lint/lint.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"
#include "katana_tool/openapi/openapi_command.hpp"

namespace katana::tool {
namespace {

struct LintFlags {
  std::vector<std::string> files;
  std::vector<std::string> without;
  std::string fail_on = "warning";
  bool is_json = false;
  bool lists_rules = false;
};

bool is_error(openapi::LintSeverity severity) noexcept {
  return severity == openapi::LintSeverity::error;
}

int list_rules() {
  for (const openapi::LintRule& each : openapi::lint_rules()) {
    fmt::print("{:37} {:8} {}\n", each.name, is_error(each.severity) ? "error" : "warning",
               each.words);
  }
  return 0;
}

void print_json(const std::vector<openapi::Finding>& findings) {
  container::List list;
  for (const openapi::Finding& each : findings) {
    list.emplace_back(container::Object{{"rule", each.rule},
                                        {"severity", is_error(each.severity) ? "error" : "warning"},
                                        {"file", each.file},
                                        {"line", each.position.line},
                                        {"column", each.position.column},
                                        {"pointer", each.pointer},
                                        {"words", each.words}});
  }
  fmt::print("{}\n", container::to_json(container::Value(std::move(list))));
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The first of `given` that cannot be read, and why.
std::optional<std::string> unreadable(const std::vector<std::string>& given) {
  for (const std::string& file : given) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (status.type() == std::filesystem::file_type::not_found) {
      return fmt::format("{}: no such file", file);
    }
    if (error) return fmt::format("{}: {}", file, error.message());
    if (std::filesystem::is_directory(status)) return fmt::format("{}: is a folder", file);
    if (::access(file.c_str(), R_OK) != 0) {
      return fmt::format("{}: {}", file, std::generic_category().message(errno));
    }
  }
  return std::nullopt;
}

int run_lint(const LintFlags& flags) {
  if (flags.lists_rules) return list_rules();
  if (const auto why = unreadable(flags.files)) {
    return command_line::fail("katana openapi lint", 2, *why);
  }
  std::vector<openapi::Finding> findings;
  for (const std::string& file : flags.files) {
    openapi::model::Problems problems;
    const openapi::Description description = openapi::read_description(file, problems);
    for (openapi::Finding& each :
         openapi::lint(description, problems, {.without = flags.without})) {
      findings.push_back(std::move(each));
    }
  }
  std::size_t errors = 0;
  for (const openapi::Finding& each : findings) errors += is_error(each.severity) ? 1 : 0;
  if (flags.is_json) {
    print_json(findings);
  } else {
    for (const openapi::Finding& each : findings) fmt::print("{}\n", each.describe());
    fmt::print("{}: {}, {}\n", counted(findings.size(), "finding"), counted(errors, "error"),
               counted(findings.size() - errors, "warning"));
  }
  return errors != 0 || (flags.fail_on == "warning" && !findings.empty()) ? 1 : 0;
}

}  // namespace

void add_lint_command(CLI::App& openapi, std::function<int()>& chosen) {
  auto flags = std::make_shared<LintFlags>();
  CLI::App* const lint = openapi.add_subcommand(
      "lint", "Check OpenAPI descriptions against the recommended rules of spectral:oas.");
  lint->add_option("FILE", flags->files, "descriptions to check")->type_name("FILE");
  lint->add_option("--without", flags->without, "rule to skip; may be repeated")
      ->type_name("RULE")
      ->allow_extra_args(false);
  lint->add_option("--fail-on", flags->fail_on, "lowest severity that gives status 1")
      ->type_name("SEVERITY")
      ->check(CLI::IsMember({"error", "warning"}));
  lint->add_flag("--json", flags->is_json, "print the result as JSON");
  lint->add_flag("--rules", flags->lists_rules, "print the rules and exit");
  lint->callback([flags, &chosen] {
    if (flags->files.empty() && !flags->lists_rules) throw CLI::RequiredError("FILE");
    chosen = [flags] { return run_lint(*flags); };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
