#include "katana/openapi/lint/rule_report.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::openapi::detail {
namespace {

LintSeverity severity_of(Bytes rule) {
  const auto found = std::ranges::find(lint_rules(), rule, &LintRule::name);
  KATANA_REQUIRE(found != lint_rules().end());
  return found->severity;
}

}  // namespace

void RuleReport::add(Bytes rule, const At& at, std::string words) {
  findings_.push_back({.rule = std::string(rule),
                       .severity = severity_of(rule),
                       .file = file_,
                       .position = at.node->position,
                       .pointer = at.pointer,
                       .words = std::move(words)});
}

void RuleReport::add(Bytes rule, const model::Location& location, std::string words) {
  findings_.push_back({.rule = std::string(rule),
                       .severity = severity_of(rule),
                       .file = location.file(),
                       .position = location.position,
                       .pointer = location.pointer(),
                       .words = std::move(words)});
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
