// CommandLine: the flags that every application has.
//
//   --config FILE   --set KEY=VALUE …   --port N   --database URL   --print-config   --check-config
//   --strict   --print-defaults   --print-schema   --print-routes   --print-openapi
//   --document NAME   --health-check   --list-engines   --help   --version
//
// A value may stand behind its flag or behind "=".
//
// A program without a database has no --database.
//
// Owns       copies of the arguments.
// Thread     a value.
// Allocates  yes.
// Fails      parse() names the argument that is wrong, in one line.
// Invariant  none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::app {

struct CommandLine {
  std::optional<std::string> config = {};  // a file that must be there
  std::vector<std::string> sets = {};      // "key=value", in their order; --port and --database too
  std::vector<std::string> set_flags = {};  // of each of `sets` its flag; empty: --set
  bool print_config = false;
  bool check_config = false;
  bool strict = false;  // what is insecure is an error
  bool print_defaults = false;
  bool print_schema = false;
  bool print_routes = false;
  bool print_openapi = false;
  std::string document = {};  // of print_openapi; empty: the first
  bool health_check = false;
  bool list_engines = false;
  bool help = false;
  bool version = false;

  void add_set(std::string set, std::string flag = {}) {
    sets.push_back(std::move(set));
    set_flags.push_back(std::move(flag));
  }

  // Of the arguments behind the program's name.
  static Result<CommandLine> parse(std::span<const char* const> arguments,
                                   bool has_database = false);
  static std::string usage(const std::string& name, const std::string& about,
                           const std::string& environment_prefix = "KATANA_",
                           bool has_database = false);
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
