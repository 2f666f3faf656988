// Sources: where a configuration comes from. Later ones win: defaults, file, environment, --set.
//
//   KATANA_NETWORK__HTTP__PORT=9000      of a key network.http.port; `__` stands for a point
//   --set network.http.port=9000
// A value of either is taken as it stands; for a list or dictionary it is YAML: [1, 2], {a: 1}.
//
// Owns       copies of what it is given.
// Thread     a value. process_environment() reads what setenv() changes: call it at the start.
// Allocates  freely.
// Fails      read_sources() adds to `problems`: a file that cannot be read or is larger than
//            file_bytes_max, and every key that the shape does not have. A variable that names no
//            group of the shape is another's, and only noted (data/config/variables.hpp).
// Invariant  none.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "katana/data/config/node.hpp"
#include "katana/data/config/problems.hpp"
#include "katana/data/config/shape.hpp"

namespace katana::config {

inline constexpr std::size_t file_bytes_max = std::size_t{4} << 20;  // a larger file is a problem

struct Sources {
  std::string file = {};                             // a path; empty: none
  bool file_optional = false;                        // a file that is not there is as good as empty
  std::string environment_prefix = "KATANA_";        // empty: no variable is looked at
  std::vector<std::string> environment_others = {};  // variables with the prefix for somebody else
  // Variables with their own name, and the keys that they set: {"KATANA_PORT", "http.port"}.
  std::vector<std::pair<std::string, std::string>> environment_names = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  // name and value
  std::vector<std::string> sets = {};  // "key=value", in the order of the flags
  // Of each of `sets`, by its position, the flag that was typed in place of --set: "--port". Empty,
  // or none: --set. Messages name it.
  std::vector<std::string> set_flags = {};
};

// The variables of this process, for Sources::environment.
std::vector<std::pair<std::string, std::string>> process_environment();

// "set it in katana.yaml, by an environment variable KATANA_… or by --set KEY=VALUE"
std::string how_to_set(const Sources& sources);

// Everything that the sources say, as one tree.
Node read_sources(const Sources& sources, const Shape& shape, Problems& problems);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
