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
  bool print_config = false;    // prints the values in effect, without secrets, and exits
  bool check_config = false;    // checks the configuration, and exits: 0 or 2
  bool strict = false;          // an insecure setting is an error
  bool print_defaults = false;  // prints every key with its default, as YAML, and exits
  bool print_schema = false;    // prints the JSON Schema of the configuration, and exits
  bool print_routes = false;    // prints method and pattern of each route, and exits
  bool print_openapi = false;   // prints the OpenAPI description, and exits
  std::string document = {};    // of print_openapi; empty: the first
  bool health_check = false;    // asks /health of the running program, and exits: 0 or 1
  bool list_engines = false;    // prints the I/O engines and whether they run here, and exits
  bool help = false;            // prints the flags, and exits
  bool version = false;         // prints name and version, and exits

  // Appends to both lists. `flag` names the setting in errors; empty: --set.
  void add_set(std::string set, std::string flag = {}) {
    sets.push_back(std::move(set));
    set_flags.push_back(std::move(flag));
  }

  // Parses the arguments behind the program's name.
  static Result<CommandLine> parse(std::span<const char* const> arguments,
                                   bool has_database = false);
  static std::string usage(const std::string& name, const std::string& about,
                           const std::string& environment_prefix = "KATANA_",
                           bool has_database = false);
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
