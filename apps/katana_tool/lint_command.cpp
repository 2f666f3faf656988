#include "katana_tool/lint_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/data/container/json_write.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/lint/lint.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

struct LintFlags {
  std::vector<std::string> paths;
  std::string stamp;
  bool json = false;
};

bool is_cpp(const fs::path& path) {
  constexpr std::array<std::string_view, 7> extensions = {".cpp", ".cc",  ".cxx", ".hpp",
                                                          ".hh",  ".hxx", ".h"};
  return std::ranges::find(extensions, path.extension().string()) != extensions.end();
}

// Folders that hold no source of the project.
bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with("build") || name.starts_with('.') || name == "node_modules";
}

Result<void> add_files(const std::string& given, std::vector<std::string>& files) {
  std::error_code error;
  if (fs::is_regular_file(given, error)) {
    files.push_back(given);
    return {};
  }
  if (!fs::is_directory(given, error)) {
    return fail(Code::not_found, fmt::format("'{}' is no file and no folder", given));
  }
  std::vector<std::string> found;
  fs::recursive_directory_iterator each(given, error);
  for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    if (each->is_directory(error) && is_skipped(each->path())) each.disable_recursion_pending();
    if (is_cpp(each->path()) && each->is_regular_file(error)) {
      found.push_back(each->path().lexically_normal().string());
    }
  }
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot read '{}': {}", given, error.message()));
  }
  std::ranges::sort(found);
  files.insert(files.end(), found.begin(), found.end());
  return {};
}

int run(const LintFlags& flags) {
  const auto failed = [](const Error& error) {
    fmt::print(stderr, "katana lint: {}\n", error.describe());
    return 2;
  };
  std::vector<std::string> files;
  for (const std::string& path : flags.paths) {
    if (auto added = add_files(path, files); !added) return failed(added.error());
  }
  std::vector<lint::Finding> findings;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text) return failed(text.error());
    std::ranges::move(lint::lint_source(*text, file), std::back_inserter(findings));
  }
  if (flags.json) {
    fmt::print("{}\n", container::to_json(findings));
  } else {
    for (const lint::Finding& each : findings) {
      fmt::print(stderr, "{}:{}:{}: error: {} [{}]\n", each.file, each.line, each.column,
                 each.message, each.rule);
    }
    if (flags.stamp.empty()) {
      fmt::print("{} files, {} findings\n", files.size(), findings.size());
    }
  }
  if (std::fflush(stdout) != 0) return 2;
  if (!findings.empty()) return 1;
  if (!flags.stamp.empty()) {
    if (auto written = replace_file(flags.stamp, ""); !written) return failed(written.error());
  }
  return 0;
}

}  // namespace

void add_source_lint_command(CLI::App& app, std::function<int()>& chosen) {
  const auto flags = std::make_shared<LintFlags>();
  flags->paths = {"."};
  CLI::App* const command = app.add_subcommand(
      "lint", "Find awaited expressions that g++ 12 compiles wrongly, without a message.");
  command->add_option("PATH", flags->paths, "files and folders; default: the current folder")
      ->default_str("");
  command->add_flag("--json", flags->json, "print the findings as a JSON array");
  command->add_option("--stamp", flags->stamp, "file to write if there is no finding, for builds");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
