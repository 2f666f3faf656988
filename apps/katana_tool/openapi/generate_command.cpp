// katana openapi generate: described structs and the interface of a service from its description.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apps/command_line.hpp"
#include "katana/http/routing/route_pattern.hpp"
#include "katana/openapi/generate/generator.hpp"
#include "katana/openapi/generate/names.hpp"
#include "katana/openapi/requests/request_sampler.hpp"
#include "katana_tool/openapi/openapi_command.hpp"

namespace katana::tool {
namespace {

struct GenerateFlags {
  std::string file;
  std::string out;
  std::string depfile;
  std::string tests;
  openapi::generate::GeneratorOptions options = {};
  bool types_only = false;
  bool no_server = false;
  bool quiet = false;
};

int fail_generate(int status, std::string_view message) {
  return command_line::fail("katana openapi generate", status, message);
}

// True for names such as "api" and "shop::v2"; not for keywords.
bool is_namespace(std::string_view name) {
  while (true) {
    const std::string_view part = name.substr(0, name.find("::"));
    const bool is_keyword = openapi::generate::value_name(part) == std::string(part) + "_";
    const bool begins = !part.empty() && (part[0] < '0' || part[0] > '9') && !is_keyword;
    if (!begins || !std::ranges::all_of(part, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_';
        })) {
      return false;
    }
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 2);
  }
}

// Writes the dependencies for make and ninja: the output depends on the description's files.
bool write_depfile(const GenerateFlags& flags, const openapi::Description& api) {
  std::ofstream stream(flags.depfile, std::ios::trunc);
  stream << flags.out << "/api.cpp:";
  for (const auto& each : api.sources) {
    stream << ' ';
    for (const char c : each->name()) {
      if (c == ' ' || c == '#') stream << '\\';
      if (c == '$') stream << '$';
      stream << c;
    }
  }
  stream << '\n';
  return static_cast<bool>(stream.flush());
}

// A request for each operation, always the same.
void draw_samples(const openapi::Description& api, openapi::generate::GeneratorOptions& options) {
  auto sampler = openapi::RequestSampler::make(api, {.seed = 1, .examples = true});
  for (const auto& path : api.paths) {
    for (const auto& each : path.operations) {
      const std::string name = each.method + " " + each.path;
      openapi::generate::RequestSample& sample = options.samples[name];
      if (!sampler) {
        sample.why_not = sampler.error().describe();
        continue;
      }
      auto drawn = sampler->draw_of(name);
      if (!drawn) {
        sample.why_not = drawn.error().describe();
      } else {
        sample = {
            std::move(drawn->target), std::move(drawn->fields), std::move(drawn->content), {}};
      }
    }
  }
}

// Prints the problems of a description, only the first ones if there are many.
void print_problems(const openapi::model::Problems& problems, bool quiet) {
  std::size_t warnings = 0;
  for (const openapi::model::Problem& each : problems.sorted()) {
    const bool warning = each.severity == openapi::model::Severity::warning;
    if (quiet && warning) continue;
    warnings += warning ? 1 : 0;
    fmt::print(stderr, "{}\n", each.describe());
  }
  if (quiet) return;
  const std::size_t left_out = problems.warning_count() - warnings;
  if (left_out != 0) fmt::print(stderr, "{} more warnings are not shown\n", left_out);
}

int run(GenerateFlags flags) {
  if (!is_namespace(flags.options.name_space)) {
    return fail_generate(
        2, fmt::format("--namespace {}: no name of a namespace of C++, such as api or "
                       "shop::v2",
                       flags.options.name_space));
  }
  openapi::model::Problems problems;
  if (flags.options.allow_partial) problems.allow_partial();
  const openapi::Description api = openapi::read_description(flags.file, problems);
  flags.options.source = flags.file.substr(flags.file.rfind('/') + 1);
  flags.options.server = !flags.types_only && !flags.no_server;
  if (flags.types_only) flags.options.client = false;
  flags.options.check_route = [](Bytes method, Bytes pattern) -> Result<void> {
    auto shape = katana::detail::shape_of(method, pattern);
    if (!shape) return std::unexpected(shape.error());
    return {};
  };
  flags.options.tests = !flags.tests.empty();
  if (flags.options.tests && !problems.has_errors()) draw_samples(api, flags.options);
  openapi::generate::Generated made;
  if (!problems.has_errors()) made = openapi::generate::generate(api, flags.options, problems);
  print_problems(problems, flags.quiet);
  if (problems.has_errors()) {
    return fail_generate(1, fmt::format("{} errors: nothing is written", problems.error_count()));
  }
  const auto written = openapi::generate::write_files(flags.out, made.files);
  if (!written) return fail_generate(1, written.error().describe());
  if (!flags.tests.empty()) {
    const auto begun = openapi::generate::write_new_files(flags.tests, made.tests);
    if (!begun) return fail_generate(1, begun.error().describe());
    fmt::print("{}: {} of {} test files are new; those that were there are as they were\n",
               flags.tests, *begun, made.tests.size());
  }
  if (!flags.depfile.empty() && !write_depfile(flags, api)) {
    return fail_generate(1, fmt::format("cannot write '{}'", flags.depfile));
  }
  fmt::print("{}: {} operations, {} types in {} files, {} of them new; {} warnings\n", flags.out,
             made.operations, made.types, made.files.size(), *written, problems.warning_count());
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& openapi, std::function<int()>& chosen) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* const generate = openapi.add_subcommand(
      "generate", "Generate structs and a server or client interface from a description.");
  generate->add_option("FILE", flags->file, "description: OpenAPI 3.1, OpenAPI 3.0 or Swagger 2.0")
      ->type_name("FILE")
      ->required();
  generate->add_option("--out", flags->out, "output folder, for generated files only")
      ->type_name("FOLDER")
      ->required();
  generate->add_option("--namespace", flags->options.name_space, "namespace of the generated code")
      ->type_name("NAME")
      ->capture_default_str();
  generate->add_flag("--client", flags->options.client,
                     "generate a typed client for each tag, too");
  generate
      ->add_option("--tests", flags->tests,
                   "folder for a first test of each tag; existing files are kept")
      ->type_name("FOLDER");
  generate->add_flag("--no-server", flags->no_server, "generate no server interfaces and routes");
  generate->add_flag("--types-only", flags->types_only,
                     "generate neither server interfaces nor clients");
  generate
      ->add_option("--sources", flags->options.sources,
                   "number of source files, which can be compiled in parallel: "
                   "api.cpp, api_2.cpp, …")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  generate->add_flag(
      "--group-by-path", flags->options.group_by_path,
      "group untagged operations by the first path segment that is neither a version "
      "nor a parameter (/v1/customers/{id}: customers)");
  generate->add_flag("--allow-partial", flags->options.allow_partial,
                     "pass what cannot be decoded to the handler, and omit invalid parts of the "
                     "description, with a warning for each");
  generate->add_flag("--quiet", flags->quiet, "print no warnings");
  generate
      ->add_option("--depfile", flags->depfile, "file to write with the inputs, for make and ninja")
      ->type_name("FILE");
  generate->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
