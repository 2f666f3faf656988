#include "katana_tool/add_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "katana/data/config/units.hpp"
#include "katana/openapi/generate/names.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/systemd_command.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

struct AddFlags {
  std::string file = "src/app.cpp";
  std::string method, path, name, every = "10m";
  std::string folder = "migrations";
};

constexpr std::array methods = {"GET", "POST", "PUT", "PATCH", "DELETE"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// A line above the one that has the mark, with that line's indentation.
Result<void> insert_above(std::string& text, std::string_view mark, std::string_view lines,
                          const std::string& file) {
  const std::size_t found = text.find(mark);
  if (found == text.npos) {
    return fail(Code::not_found,
                fmt::format("'{}' has no line '{}': put it where these lines are to go, or name "
                            "another file with --file",
                            file, mark));
  }
  const std::size_t begin = text.rfind('\n', found) + 1;
  text.insert(begin, lines);
  return {};
}

Result<void> refuse_present(const std::string& text, const std::string& name) {
  if (text.find(fmt::format(" {}(", name)) == text.npos) return {};
  return fail(Code::already_exists, fmt::format("there is a function '{}' already", name));
}

// A keyword or a macro gets an underscore: a function and a parameter may not be called so.
std::string as_identifier(const std::string& name) {
  return openapi::generate::value_name(name) == name + "_" ? name + "_" : name;
}

struct Route {
  std::string function;                 // get_items_id
  std::vector<std::string> parameters;  // id
  std::vector<std::string> variables;   // their variables: id, class_
};

// "/items/{id}"
Result<Route> read_path(const std::string& method, const std::string& path) {
  Route route{.function = lower(method), .parameters = {}, .variables = {}};
  openapi::generate::Scope taken;
  (void)taken.take("format_text");  // the handler calls it
  if (!path.starts_with('/') || path.find_first_of(" \"\\?#") != path.npos) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is no path of a route: give one such as /items/{{id}}", path));
  }
  bool within_word = false;
  for (const char c : path) {
    if (is_word(c) && !within_word) route.function += '_';
    within_word = is_word(c);
    if (within_word) route.function += c;
  }
  for (std::size_t at = path.find('{'); at != path.npos; at = path.find('{', at + 1)) {
    const std::size_t end = path.find('}', at);
    const std::string name = end == path.npos ? "" : path.substr(at + 1, end - at - 1);
    if (name.empty() || !std::ranges::all_of(name, is_word)) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}': a parameter is a name in braces, such as {{id}}", path));
    }
    route.parameters.push_back(name);
    route.variables.push_back(taken.take(openapi::generate::value_name(name)));
  }
  if (path == "/") route.function += "_root";
  return route;
}

Result<int> add_route(const AddFlags& flags) {
  auto route = read_path(flags.method, flags.path);
  if (!route) return std::unexpected(route.error());
  auto text = read_file(flags.file);
  if (!text) return std::unexpected(text.error());
  if (auto free = refuse_present(*text, route->function); !free) {
    return std::unexpected(free.error());
  }
  std::string parameters, words, arguments;
  for (const std::string& each : route->variables) {
    parameters += fmt::format("{}Path<std::string> {}", parameters.empty() ? "" : ", ", each);
    arguments += fmt::format(", *{}", each);
  }
  for (const std::string& each : route->parameters) {
    words += fmt::format("{}{}={{}}", words.empty() ? "" : " ", each);
  }
  const std::string reply = words.empty() ? fmt::format("\"{} {}\"", flags.method, flags.path)
                                          : fmt::format("format_text(\"{}\"{})", words, arguments);
  const std::string handler = fmt::format("Reply {}({}) {{\n  return Reply::text({});\n}}\n\n",
                                          route->function, parameters, reply);
  const std::string verb = flags.method == "DELETE" ? "delete_" : lower(flags.method);
  const std::string line =
      fmt::format("  routes.{}(\"{}\", {});\n", verb, flags.path, route->function);
  if (auto done = insert_above(*text, "// katana: handlers", handler, flags.file); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = insert_above(*text, "// katana: routes", line, flags.file); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = replace_file(flags.file, *text); !done) return std::unexpected(done.error());
  fmt::print("{}: {}() serves {} {}\n", flags.file, route->function, flags.method, flags.path);
  return 0;
}

Result<void> check_word(const std::string& name) {
  if (!name.empty() && name.size() <= 60 && name[0] >= 'a' && name[0] <= 'z' &&
      std::ranges::all_of(name, is_word)) {
    return {};
  }
  return fail(
      Code::invalid_argument,
      fmt::format("'{}' is not a valid name: begin with a-z, and use a-z, 0-9 and _", name));
}

Result<int> add_job(const AddFlags& flags) {
  if (auto checked = check_word(flags.name); !checked) return std::unexpected(checked.error());
  const auto every = config::read_duration(flags.every);
  if (!every || *every <= Duration{}) {
    return fail(Code::invalid_argument,
                fmt::format("--every '{}': give a time such as 30s, 10m or 2h", flags.every));
  }
  auto text = read_file(flags.file);
  if (!text) return std::unexpected(text.error());
  const std::string name = as_identifier(flags.name);
  if (auto free = refuse_present(*text, name); !free) return std::unexpected(free.error());
  const std::string function = fmt::format(
      "Task<Result<void>> {}(const registry::Services& services) {{\n"
      "  services.get<log::Log>().logger(\"jobs\").info(\"{} ran\");\n  co_return Result<void>();\n"
      "}}\n\n",
      name, flags.name);
  const std::string line = fmt::format("  app.job(\"{}\", jobs::every(milliseconds({})), {});\n",
                                       flags.name, every->count_ms(), name);
  if (auto done = insert_above(*text, "// katana: handlers", function, flags.file); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = insert_above(*text, "// katana: jobs", line, flags.file); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = replace_file(flags.file, *text); !done) return std::unexpected(done.error());
  fmt::print("{}: {}() runs every {}\n", flags.file, name, flags.every);
  return 0;
}

Result<int> add_migration(const AddFlags& flags) {
  if (auto checked = check_word(flags.name); !checked) return std::unexpected(checked.error());
  unsigned last = 0;
  std::error_code error;  // a folder that is not there has none
  for (const fs::directory_entry& each : fs::directory_iterator(flags.folder, error)) {
    const std::string file = each.path().filename().string();
    unsigned number = 0;
    const auto [end, failure] = std::from_chars(file.data(), file.data() + file.size(), number);
    if (failure != std::errc() || each.path().extension() != ".sql") continue;
    if (std::string(end).starts_with("_" + flags.name + ".")) {
      return fail(Code::already_exists, fmt::format("'{}' has that name", each.path().string()));
    }
    last = std::max(last, number);
  }
  const fs::path path = fs::path(flags.folder) / fmt::format("{:04}_{}.sql", last + 1, flags.name);
  const auto written = write_new_file(
      path,
      "-- Applied once, in the order of the numbers, all or nothing. Never edited afterwards.\n");
  if (!written) return std::unexpected(written.error());
  fmt::print("{}\n", path.string());
  return 0;
}

}  // namespace

void add_add_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const add =
      app.add_subcommand("add", "Add a route, a job, a migration or systemd units to the project.");
  add->require_subcommand(1);
  const auto flags = std::make_shared<AddFlags>();
  const auto run = [flags, &chosen](Result<int> (*action)(const AddFlags&)) {
    return [flags, &chosen, action] {
      chosen = [flags, action] {
        const auto status = action(*flags);
        if (status) return *status;
        fmt::print(stderr, "katana add: {}\n", status.error().describe());
        return status.error().code() == Code::unavailable ? 1 : 2;
      };
    };
  };
  CLI::App* const route = add->add_subcommand("route", "Add a handler and its route.");
  route->add_option("METHOD", flags->method, "GET, POST, PUT, PATCH or DELETE")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(methods.begin(), methods.end())));
  route->add_option("PATH", flags->path, "such as /items/{id}")->required();
  const auto add_file = [&flags](CLI::App& to) {
    to.add_option("--file", flags->file, "source file to add it to")
        ->type_name("FILE")
        ->capture_default_str();
  };
  add_file(*route);
  route->callback(run(&add_route));
  CLI::App* const job = add->add_subcommand("job", "Add a coroutine that runs at an interval.");
  job->add_option("NAME", flags->name, "name of the job and of its function")->required();
  job->add_option("--every", flags->every, "such as 30s, 10m or 2h")->capture_default_str();
  add_file(*job);
  job->callback(run(&add_job));
  CLI::App* const migration = add->add_subcommand("migration", "Add the next numbered SQL file.");
  migration->add_option("NAME", flags->name, "name of the file, after its number")->required();
  migration->add_option("--folder", flags->folder, "folder of the migrations")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  migration->callback(run(&add_migration));
  add_systemd_command(*add, chosen);
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
