#include "katana/openapi/diff/change.hpp"

#include <fmt/format.h>

namespace katana::openapi {

Bytes level_name(Level level) noexcept {
  switch (level) {
    case Level::info: return "info";
    case Level::warning: return "warning";
    case Level::breaking: return "breaking";
  }
  return "";
}

std::string Change::describe() const {
  return fmt::format("{}: {}{}: {} [{}]", level_name(level),
                     operation.empty() ? "" : operation + ": ", rule, words, place);
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
