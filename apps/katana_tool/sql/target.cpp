#include "katana_tool/sql/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "katana_tool/files.hpp"

namespace katana::tool::sql {
namespace {

namespace fs = std::filesystem;

bool set(Target& target, std::string_view key, std::string value) {
  if (key == "name") {
    target.name = std::move(value);
  } else if (key == "folder") {
    target.folder = std::move(value);
  } else if (key == "source") {
    target.sources.push_back(std::move(value));
  } else if (key == "include") {
    target.includes.push_back(std::move(value));
  } else if (key == "object") {
    target.objects.push_back(std::move(value));
  } else if (key == "dialect") {
    if (value != "sqlite" && value != "postgres") return false;
    target.dialects.push_back(std::move(value));
  } else if (key == "migrations") {
    const std::size_t space = value.find(' ');
    if (space == value.npos) return false;
    target.migrations[value.substr(0, space)] = value.substr(space + 1);
  } else if (key == "lock") {
    target.lock = std::move(value);
  } else if (key == "warnings") {
    target.warnings_are_errors = value == "errors";
  } else {
    return false;
  }
  return true;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::ranges::mismatch(folder, path);
  return end == folder.end();
}

// Empty: it is not of this folder.
fs::path find_include(const Target& target, const fs::path& includer, const std::string& name) {
  std::vector<fs::path> folders = {includer.parent_path()};
  folders.insert(folders.end(), target.includes.begin(), target.includes.end());
  for (const fs::path& folder : folders) {
    const fs::path path = (folder / name).lexically_normal();
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) {
      return is_within(path, fs::path(target.folder).lexically_normal()) ? path : fs::path();
    }
  }
  return {};
}

bool is_cpp(const fs::path& path) {
  static constexpr std::string_view endings[] = {".cpp", ".cc",  ".cxx", ".c++", ".hpp",
                                                 ".h",   ".hxx", ".hh",  ".ipp"};
  return std::ranges::find(endings, path.extension().string()) != std::end(endings);
}

}  // namespace

Result<Target> Target::parse(std::string_view text, const std::string& path) {
  Target made;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::size_t space = line.find(' ');
    if (line.empty() || (space != line.npos && space + 1 == line.size())) continue;
    if (space == line.npos ||
        !set(made, line.substr(0, space), std::string(line.substr(space + 1)))) {
      return fail(
          Code::invalid_argument,
          fmt::format("'{}' has the line '{}', which is not understood: configure the build "
                      "again with the katana of the same version",
                      path, line));
    }
  }
  if (made.dialects.empty() || made.objects.empty()) {
    return fail(Code::invalid_argument, fmt::format("'{}' names no objects or no dialect", path));
  }
  return made;
}

Result<std::vector<Literal>> Target::literals() const {
  std::vector<Literal> all;
  std::set<fs::path> seen;
  std::vector<fs::path> waiting(sources.rbegin(), sources.rend());
  while (!waiting.empty()) {
    const fs::path path = (fs::path(folder) / waiting.back()).lexically_normal();
    waiting.pop_back();
    if (!is_cpp(path) || !seen.insert(path).second) continue;
    const auto text = read_file(path);
    if (!text) return std::unexpected(text.error());
    std::vector<Literal> found = literals_in(*text, path.string());
    std::ranges::move(found, std::back_inserter(all));
    for (const std::string& header_name : includes_in(*text)) {
      if (const fs::path header = find_include(*this, path, header_name); !header.empty()) {
        waiting.push_back(header);
      }
    }
  }
  return all;
}

Result<std::vector<Record>> Target::records() const {
  std::vector<Record> all;
  for (const std::string& object : objects) {
    auto found = read_records(object);
    if (!found) {
      return fail(found.error().code(),
                  fmt::format("{} (is target {} built?)", found.error().message(), name));
    }
    for (Record& each : *found) {
      const auto known =
          std::ranges::find_if(all, [&](const Record& other) { return other.says_as(each); });
      if (known == all.end()) {
        all.push_back(std::move(each));
      } else {
        known->objects.push_back(object);
      }
    }
  }
  return all;
}

Result<std::vector<database::Migration>> Target::migrations_for(const std::string& dialect) const {
  const auto found = migrations.find(dialect);
  if (found == migrations.end()) return std::vector<database::Migration>();
  const auto all = database::read_migrations(found->second);
  if (!all) return std::unexpected(all.error());
  return database::migrations_for(dialect, *all);
}

std::string checksum_of(const std::vector<database::Migration>& migrations) {
  std::string all;
  for (const database::Migration& each : migrations) all += each.file + " " + each.checksum + "\n";
  return database::migration_checksum(all);
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
