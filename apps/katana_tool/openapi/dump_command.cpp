// katana openapi dump: the document of a program, for the repository of that program.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/openapi/document/document.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/openapi/openapi_command.hpp"
#include "katana_tool/openapi/text_diff.hpp"
#include "katana_tool/program_command.hpp"
#include "katana_tool/program_output.hpp"

namespace katana::tool {
namespace {

struct DumpFlags {
  std::string program;
  std::string config_file;
  std::vector<std::string> sets;
  std::string document;
  std::string specification = "3.1";
  std::string out;
  std::string check;
};

Result<std::string> document_of(const DumpFlags& flags) {
  std::vector<std::string> words = {flags.program, "--print-openapi"};
  if (words.front().empty()) {
    auto name = project_name();
    if (!name) return std::unexpected(name.error());
    words.front() = "build/" + *name;
  }
  if (!flags.config_file.empty()) words.insert(words.end(), {"--config", flags.config_file});
  for (const std::string& each : flags.sets) words.insert(words.end(), {"--set", each});
  if (!flags.document.empty()) words.insert(words.end(), {"--document", flags.document});
  auto text = output_of(words, "build it, or name it with --program");
  if (!text || flags.specification == "3.1") return text;
  auto value = container::read_json<container::Value>(*text);
  if (!value || value->get_object() == nullptr) {
    return fail(Code::invalid_argument, fmt::format("'{}' printed no document", words.front()));
  }
  return openapi::indented(openapi::as_3_0(std::move(value->as_object())));
}

int check(const DumpFlags& flags, const std::string& text) {
  const auto kept = read_file(flags.check);
  if (!kept) {
    fmt::print(stderr, "katana: {}; write it: katana openapi dump --out {}\n",
               kept.error().describe(), flags.check);
    return 1;
  }
  const std::string difference = text_diff(*kept, text);
  if (difference.empty()) return 0;
  fmt::print("--- {}\n+++ the program's\n{}", flags.check, difference);
  std::fflush(stdout);
  fmt::print(stderr,
             "katana: {} is not what the program serves, see above; if the change is meant, write "
             "it anew: katana openapi dump --out {}\n",
             flags.check, flags.check);
  return 1;
}

int run(const DumpFlags& flags) {
  const auto text = document_of(flags);
  if (!text) {
    fmt::print(stderr, "katana: {}\n", text.error().describe());
    return text.error().code() == Code::unavailable ? 1 : 2;
  }
  if (!flags.check.empty()) return check(flags, *text);
  if (flags.out.empty()) {
    fmt::print("{}", *text);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  const auto written = replace_file(flags.out, *text);
  if (written) return 0;
  fmt::print(stderr, "katana: {}\n", written.error().describe());
  return 1;
}

}  // namespace

void add_dump_command(CLI::App& openapi, std::function<int()>& chosen) {
  const auto flags = std::make_shared<DumpFlags>();
  CLI::App* const command = openapi.add_subcommand(
      "dump", "Print the OpenAPI document of the project's program without starting it.");
  command->add_option("--program", flags->program,
                      "program to ask; default: build/NAME of project(NAME)");
  command->add_option("--config", flags->config_file, "configuration file; default: none");
  command->add_option("--set", flags->sets, "set one value of the configuration; may be repeated");
  command->add_option("--document", flags->document, "document to print, if there are several");
  command->add_option("--specification", flags->specification, "version of OpenAPI")
      ->check(CLI::IsMember({"3.1", "3.0"}))
      ->capture_default_str();
  CLI::Option* const out = command->add_option("--out", flags->out, "file to write");
  command
      ->add_option("--check", flags->check,
                   "file to compare the document with; status 1 and a diff if they differ")
      ->excludes(out);
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
