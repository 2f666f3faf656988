#include "katana/observe/log/level.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::log {

Result<Level> parse_level(Bytes text) {
  const auto* const found = std::ranges::find(level_names, text);
  if (found == level_names.end()) {
    return fail(Code::invalid_argument,
                fmt::format("unknown log level '{}': use {}", text, fmt::join(level_names, ", ")));
  }
  return static_cast<Level>(found - level_names.begin());
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
