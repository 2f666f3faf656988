#include "katana_tool/sql/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "katana/data/container/json_write.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/sql/check.hpp"

namespace katana::tool::sql {
namespace {

namespace fs = std::filesystem;

// A folder may have several configurations (Debug, Release), and some may never have been built.
bool is_built(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return true;  // which is its own error
  const auto target = Target::parse(*text, path);
  std::error_code ignored;
  return !target || std::ranges::any_of(target->objects, [&](const std::string& object) {
    return fs::exists(object, ignored);
  });
}

// The target files that the build of a project has written.
Result<std::vector<std::string>> find_targets(const std::string& build) {
  std::vector<std::string> found;
  std::error_code error;
  for (auto each = fs::recursive_directory_iterator(build, error);
       !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    const fs::path& path = each->path();
    if (path.extension() == ".target" && path.parent_path().filename() == "katana_sql") {
      found.push_back(path.string());
    }
  }
  if (found.empty()) {
    return fail(
        Code::not_found,
        fmt::format("'{}' has no target that is checked: call katana_check_sql(TARGET …) in "
                    "CMakeLists.txt and build, or name the folder of the build by --build",
                    build));
  }
  std::ranges::sort(found);
  if (std::ranges::any_of(found, is_built)) std::erase_if(found, std::not_fn(is_built));
  return found;
}

void print(const Finding& finding) {
  if (finding.line > 0) {
    fmt::print(stderr, "{}:{}:{}: ", finding.file, finding.line, finding.column);
  } else {
    fmt::print(stderr, "{}: ", finding.file);
  }
  // The line that a database points into follows.
  const std::string_view message = finding.message;
  const std::size_t end = std::min(message.find('\n'), message.size());
  fmt::print(stderr, "{}: {} [{}{}{}]{}\n", enumerator_name(finding.severity),
             message.substr(0, end), finding.dialect, finding.dialect.empty() ? "" : " ",
             finding.rule, message.substr(end));
}

Result<std::size_t> check_target(const std::string& path, const RunOptions& options,
                                 std::vector<Finding>& findings) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto target = Target::parse(*text, path);
  if (!target) return std::unexpected(target.error());
  if (options.update && target->lock.empty()) {
    return fail(
        Code::invalid_argument,
        fmt::format("target '{}' has no lock: name one by katana_check_sql({} LOCK sql.lock)",
                    target->name, target->name));
  }
  auto report = check(*target, {.update = options.update, .database = options.database});
  if (!report) return std::unexpected(report.error());
  if (options.warnings_as_errors || target->warnings_are_errors) {
    for (Finding& each : report->findings) each.severity = Severity::error;
  }
  const std::size_t errors = error_count(report->findings);
  if (options.update && errors == 0) {
    if (auto written = replace_file(target->lock, report->lock.write()); !written) {
      return std::unexpected(written.error());
    }
  }
  findings.insert(findings.end(), report->findings.begin(), report->findings.end());
  if (!options.json && options.stamp.empty()) {
    fmt::print("{}: {} statements, {} errors, {} warnings{}\n", target->name, report->statements,
               errors, report->findings.size() - errors,
               !options.update ? ""
               : errors == 0   ? fmt::format("; wrote {}", target->lock)
                               : "; the lock is as it was");
  }
  return errors;
}

}  // namespace

int run_check(const RunOptions& options) {
  const auto failed = [](const Error& error) {
    fmt::print(stderr, "katana sql check: {}\n", error.describe());
    return 2;
  };
  std::vector<std::string> targets = options.targets;
  if (targets.empty()) {
    auto found = find_targets(options.build);
    if (!found) return failed(found.error());
    targets = *std::move(found);
  }
  std::vector<Finding> findings;
  std::size_t errors = 0;
  for (const std::string& each : targets) {
    const auto in_target = check_target(each, options, findings);
    if (!in_target) return failed(in_target.error());
    errors += *in_target;
  }
  if (options.json) {
    fmt::print("{}\n", container::to_json(findings));
  } else {
    for (const Finding& each : findings) print(each);
  }
  if (std::fflush(stdout) != 0) return 2;
  if (errors > 0) return 1;
  if (!options.stamp.empty()) {
    if (auto written = replace_file(options.stamp, ""); !written) return failed(written.error());
  }
  return 0;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
