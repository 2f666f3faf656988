// The rules of lint(), and what they find.
//
// Owns       a Finding its words.
// Thread     any.
// Allocates  findings.
// Fails      never.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "katana/base/bytes.hpp"
#include "katana/openapi/node.hpp"

namespace katana::openapi {

enum class LintSeverity : std::uint8_t { error, warning };

struct LintRule {
  Bytes name;
  LintSeverity severity;
  Bytes words;  // what it wants
};
std::span<const LintRule> lint_rules() noexcept;

struct Finding {
  std::string rule;
  LintSeverity severity;
  std::string file;
  model::Position position;
  std::string pointer;  // "/paths/~1items/get"
  std::string words;
  // "api.yaml:12:7: warning: operation-tags: #/paths/~1items/get: …"
  std::string describe() const;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
