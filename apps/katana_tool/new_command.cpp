#include "katana_tool/new_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "katana_tool/files.hpp"
#include "katana_tool_templates.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

struct NewFlags {
  std::string name;
  std::string database = "sqlite";
  std::vector<std::string> with;
  std::string folder;
};

struct File {
  const char* path;  // with {{name}}
  const char* text;
  const char* only = nullptr;  // for this choice
};

constexpr File files[] = {
    {"CMakeLists.txt", embedded::file_CMakeLists_txt_in},
    {"Makefile", embedded::file_Makefile_in},
    {"README.md", embedded::file_README_md_in},
    {"Containerfile", embedded::file_Containerfile_in},
    {".gitignore", embedded::file_gitignore_in},
    {".github/workflows/test.yml", embedded::file_ci_yml_in},
    {"{{name}}.yaml", embedded::file_config_yaml_in},
    {"migrations/0001_notes.sql", embedded::file_notes_sql_in, "sqlite_alone"},
    {"migrations/0001_notes.sqlite.sql", embedded::file_notes_sql_in, "postgres"},
    {"migrations/0001_notes.postgres.sql", embedded::file_notes_postgres_sql_in, "postgres"},
    {"src/app.hpp", embedded::file_app_hpp_in},
    {"src/app.cpp", embedded::file_app_cpp_in},
    {"src/main.cpp", embedded::file_main_cpp_in},
    {"tests/app_test.cpp", embedded::file_app_test_cpp_in},
    {".clangd", embedded::file_clangd_in, "editor"},
    {".vscode/tasks.json", embedded::file_tasks_json_in, "editor"},
    {".vscode/launch.json", embedded::file_launch_json_in, "editor"},
    {".vscode/extensions.json", embedded::file_extensions_json_in, "editor"},
    {".devcontainer/devcontainer.json", embedded::file_devcontainer_json_in, "editor"},
};

constexpr std::size_t name_bytes_max = 40;

// Targets of CMake.
const std::set<std::string, std::less<>> reserved_names = {"all",
                                                           "clean",
                                                           "depend",
                                                           "edit_cache",
                                                           "help",
                                                           "install",
                                                           "list_install_components",
                                                           "package",
                                                           "package_source",
                                                           "preinstall",
                                                           "rebuild_cache",
                                                           "test"};

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

Result<void> check_name(std::string_view name) {
  std::string wrong;
  if (name.empty() || name[0] < 'a' || name[0] > 'z') wrong = "the first character has to be a-z";
  if (name.size() > name_bytes_max) {
    wrong = fmt::format("it has {} characters, and {} are allowed", name.size(), name_bytes_max);
  }
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (const auto bad = std::ranges::find_if_not(name, is_allowed); bad != name.end()) {
    wrong = *bad >= 'A' && *bad <= 'Z'
                ? fmt::format("upper-case letters are not allowed; try '{}'", lower(name))
                : "only a-z, 0-9, '-' and '_' are allowed";
  }
  if (name == "katana") wrong = "this is the name of the library";
  if (reserved_names.contains(name)) wrong = "CMake has a target of this name";
  if (wrong.empty()) return {};
  return fail(Code::invalid_argument,
              fmt::format("'{}' cannot be the name of a project: {}", name, wrong));
}

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

TemplateValues values_of(const NewFlags& flags) {
  TemplateValues values = values_of_project(flags.name);
  values.values["component"] = flags.database == "none" ? "application" : "application_sqlite";
  values.choices = {flags.with.begin(), flags.with.end()};
  values.choices.insert(flags.database);
  // A program for PostgreSQL has SQLite, too: its tests need no server.
  if (flags.database == "postgres") values.choices.insert("sqlite");
  if (flags.database == "sqlite") values.choices.insert("sqlite_alone");
  return values;
}

Result<int> write_project(const NewFlags& flags) {
  if (auto checked = check_name(flags.name); !checked) return std::unexpected(checked.error());
  const fs::path folder = flags.folder.empty() ? fs::path(flags.name) : fs::path(flags.folder);
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder))) {
    return fail(Code::already_exists,
                fmt::format("'{}' exists and is not an empty folder: choose another name, or "
                            "--directory",
                            folder.string()));
  }
  const TemplateValues values = values_of(flags);
  int count = 0;
  for (const File& file : files) {
    if (file.only != nullptr && !values.choices.contains(file.only)) continue;
    const auto written =
        write_new_file(folder / fill_template(file.path, values), fill_template(file.text, values));
    if (!written) return std::unexpected(written.error());
    ++count;
  }
  fmt::print("{}: {} files. Next:\n  cd {}\n", folder.string(), count, folder.string());
  if (values.choices.contains("postgres")) {
    fmt::print("  createuser {0} && createdb --owner={0} {0}   # as a role that may\n", flags.name);
  }
  fmt::print("  make run\n  make test\n");
  return 0;
}

}  // namespace

TemplateValues values_of_project(const std::string& name) {
  const std::string plain = with_underscores(name);
  TemplateValues values;
  // No keyword, macro or function of the C library ends so; `time`, `link` and `main` are some.
  const std::string name_space = plain + "_app";
  values.values = {{"name", name},
                   {"namespace", name_space},
                   {"prefix", upper(plain)},
                   {"version", KATANA_VERSION}};
  return values;
}

void add_new_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<NewFlags>();
  CLI::App* const command =
      app.add_subcommand("new", "Create a project that builds, runs and has tests.");
  command->add_option("NAME", flags->name, "name of the project, its program and its folder")
      ->required();
  command->add_option("--database", flags->database, "sqlite, postgres or none")
      ->check(CLI::IsMember({"sqlite", "postgres", "none"}))
      ->capture_default_str();
  command->add_option("--with", flags->with, "any of websocket, openapi, job, editor")
      ->delimiter(',')
      ->check(CLI::IsMember({"websocket", "openapi", "job", "editor"}));
  command->add_option("--directory", flags->folder, "output folder (default: NAME)")
      ->type_name("DIRECTORY");
  command->callback([flags, &chosen] {
    chosen = [flags] {
      const auto status = write_project(*flags);
      if (status) return *status;
      fmt::print(stderr, "katana new: {}\n", status.error().describe());
      return status.error().code() == Code::unavailable ? 1 : 2;
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
