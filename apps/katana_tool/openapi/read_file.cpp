#include "katana_tool/openapi/read_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace katana::tool {

std::optional<openapi::Description> read_or_say(const char* command, const std::string& file) {
  openapi::model::Problems problems;
  openapi::Description description = openapi::read_description(file, problems);
  if (!problems.has_errors()) return description;
  for (const openapi::model::Problem& each : problems.sorted()) {
    fmt::print(stderr, "{}: {}\n", command, each.describe());
  }
  return std::nullopt;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
