// The rules of lint(), and their findings.
//
// Owns       a Finding owns its words.
// Thread     any.
// Allocates  findings.
// Fails      never.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/node.hpp"

namespace katana::openapi {

// Spectral's; decides the status of `katana openapi lint`.
enum class LintSeverity : std::uint8_t {
  error,    // always gives status 1
  warning,  // does not with --fail-on error
};

// A rule of lint(), in any dialect.
struct LintRule {
  Bytes name;             // for LintOptions::without
  LintSeverity severity;  // of each of its findings
  Bytes words;            // its demand
};
// All of them, by name; they stay for the life of the program.
std::span<const LintRule> lint_rules() noexcept;

// A place that departs from a rule.
struct Finding {
  std::string rule;          // LintRule::name
  LintSeverity severity;     // that of the rule
  std::string file;          // as it was given, or its URI
  model::Position position;  // line 0: of the whole file
  std::string pointer;       // "/paths/~1items/get"
  std::string words;         // the fault at this place
  // "api.yaml:12:7: warning: operation-tags: #/paths/~1items/get: …"
  std::string describe() const;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
