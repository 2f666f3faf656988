// The findings of `katana doctor`: what is wrong with a running program and its machine, or near a
// limit, each with its remedy.
//
// Owns       its texts.
// Thread     any.
// Allocates  freely.
// Fails      never: what the kernel does not say is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/app/live_documents.hpp"

namespace katana::tool {

// One finding.
struct Finding {
  std::string what = {};    // a sentence without its end
  std::string remedy = {};  // likewise
  bool is_problem = true;   // false: it is only near a limit, or costs speed
};

// Facts of the kernel about a process and its machine. Empty: it does not say.
struct ProcessFacts {
  std::optional<std::int64_t> files_open = {};
  std::optional<std::int64_t> files_max = {};  // the soft limit
  std::optional<std::int64_t> somaxconn = {};
  std::optional<std::int64_t> listen_overflows = {};  // of its network namespace, since its start
  std::optional<std::int64_t> periods = {};           // of the CPU limit of its control group
  std::optional<std::int64_t> periods_throttled = {};
  std::optional<std::int64_t> memory_bytes = {};      // of its control group
  std::optional<std::int64_t> memory_max_bytes = {};  // likewise; empty: no limit
  std::string huge_pages = {};                        // "always", "madvise", "never"
  std::string clock_source = {};                      // "tsc"
  std::optional<double> cpu_seconds = {};             // of the process
  std::optional<std::int64_t> threads = {};
};
// `root`: "/", or a folder of a test. Files that cannot be read leave their facts empty.
ProcessFacts read_process_facts(std::int64_t pid, const std::string& root = "/");

// Judges two readings that are `seconds` apart.
std::vector<Finding> judge_process(const ProcessFacts& before, const ProcessFacts& now,
                                   double seconds);
// Judges what a program says of itself.
std::vector<Finding> judge_state(const app::StateDocument& state, std::string_view metrics);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
