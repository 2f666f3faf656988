#include "katana_tool/stack_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "apps/command_line.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana_tool/live/fetch.hpp"
#include "katana_tool/live/stack_view.hpp"

namespace katana::tool {
namespace {

struct StackFlags {
  std::string url = "http://127.0.0.1:8080";
  std::string token_file;
  std::string route;
  std::string older;
  unsigned limit = 1000;
  bool single = false;
  bool json = false;
};

int fail_stack(int status, std::string_view message) {
  return command_line::fail("katana stack", status, message);
}

// The text as the value of a query parameter (RFC 3986 §3.4).
std::string query_value(std::string_view text) {
  std::string value;
  for (const char each : text) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') || each == '-' || each == '.' ||
                          each == '_' || each == '/';
    if (is_plain) {
      value += each;
    } else {
      value += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
  }
  return value;
}

std::string path_of(const StackFlags& flags) {
  std::string path = fmt::format("/operations/coroutines?limit={}", flags.limit);
  if (!flags.route.empty()) path += "&route=" + query_value(flags.route);
  if (!flags.older.empty()) path += "&older=" + query_value(flags.older);
  return path;
}

int run(const StackFlags& flags) {
  const auto fetcher = Fetcher::with_token_file(flags.url, flags.token_file);
  if (!fetcher) return fail_stack(2, fetcher.error().describe());
  const auto content = (*fetcher)->get(path_of(flags));
  if (!content) return fail_stack(1, content.error().describe());
  if (flags.json) {
    fmt::print("{}", *content);
  } else {
    app::CoroutinesDocument document;
    container::Findings findings;
    if (!container::read_json(*content, document, findings)) {
      return fail_stack(1, fmt::format("{}: the answer is not a list of coroutines", flags.url));
    }
    for (const std::string& line : stack_lines(document, flags.single)) fmt::print("{}\n", line);
  }
  return std::fflush(stdout) == 0 ? 0 : fail_stack(1, "cannot write to standard output");
}

}  // namespace

void add_stack_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<StackFlags>();
  CLI::App* const command = app.add_subcommand(
      "stack", "Show where the coroutines of a running program wait, with their callers.");
  command
      ->add_option("URL", flags->url,
                   "the program, or its operations listener; default: http://127.0.0.1:8080")
      ->type_name("URL");
  command->add_option("--token-file", flags->token_file, "file with operations.token")
      ->type_name("FILE");
  command->add_option("--route", flags->route, "only those of a route: /users/{id}")
      ->type_name("ROUTE");
  command->add_option("--older", flags->older, "only those that wait for so long: 10s, 500ms")
      ->type_name("DURATION");
  command->add_option("--limit", flags->limit, "the most coroutines, 1000 or fewer; default: 1000")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--single", flags->single,
                    "each on its own, with the id of its request; default: equal stacks together");
  command->add_flag("--json", flags->json, "the answer of /operations/coroutines as it is");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
