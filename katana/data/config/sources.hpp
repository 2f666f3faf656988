// Sources: the sources of a configuration. Later ones win: defaults, file, environment, --set.
//
//   KATANA_NETWORK__HTTP__PORT=9000      for the key network.http.port; `__` stands for a point
//   --set network.http.port=9000
// A value of either is taken literally. For a list or dictionary it is YAML: [1, 2], {a: 1}.
//
// Owns       copies of its arguments.
// Thread     a value. process_environment() reads what setenv() changes: call it at the start.
// Allocates  freely.
// Fails      read_sources() adds to `problems`: a file that cannot be read or is larger than
//            file_bytes_max, and every key that the shape does not have. A variable that names no
//            group of the shape belongs to another program. It is only noted
//            (data/config/variables.hpp).
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
  bool file_optional = false;                        // a missing file counts as empty
  std::string environment_prefix = "KATANA_";        // empty: no variable is read
  std::vector<std::string> environment_others = {};  // variables with the prefix to be ignored
  // Variables with special names, and the keys that they set: {"KATANA_PORT", "http.port"}.
  std::vector<std::pair<std::string, std::string>> environment_names = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  // name and value
  std::vector<std::string> sets = {};  // "key=value", in the order of the flags
  // The flags for messages, by the position in `sets`: "--port" was typed instead of --set. Empty,
  // or missing: --set.
  std::vector<std::string> set_flags = {};
};

// The variables of this process, for Sources::environment.
std::vector<std::pair<std::string, std::string>> process_environment();

// The advice "set it in katana.yaml, by an environment variable KATANA_… or by --set KEY=VALUE".
std::string how_to_set(const Sources& sources);

// Reads all sources into one tree.
Node read_sources(const Sources& sources, const Shape& shape, Problems& problems);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
