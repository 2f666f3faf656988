// RuleReport: takes the findings of rules.
//
// Borrows    the list of findings.
// Thread     one.
// Allocates  findings.
// Fails      never. REQUIRES rules of lint_rules().
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/lint/document_walk.hpp"
#include "katana/openapi/lint/lint_rules.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::detail {

class RuleReport {
 public:
  RuleReport(std::vector<Finding>& findings, std::string file)
      : findings_(findings), file_(std::move(file)) {}
  void add(Bytes rule, const At& at, std::string words);
  void add(Bytes rule, const model::Location& location, std::string words);

 private:
  std::vector<Finding>& findings_;
  const std::string file_;
};

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
