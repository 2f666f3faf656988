// lint(): finds the faults of an OpenAPI description by the recommended rules of Spectral's
// `spectral:oas`, with their names and severities.
//
//   openapi::model::Problems problems;
//   const openapi::Description api = openapi::read_description("api.yaml", problems);
//   for (const openapi::Finding& each : openapi::lint(api, problems)) … each.describe()
//
// Findings of the reader are `oas3-schema` (or `oas2-schema`). lint_rules() has the table of rules,
// and docs/guides/openapi-contract.md explains it.
//
// Thread     any.
// Allocates  freely.
// Fails      never: a description with errors is judged as far as it could be read.
// Invariant  findings are in the order of the file.
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/lint/lint_rules.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// The rules that lint() leaves out.
struct LintOptions {
  std::vector<std::string> without = {};  // rules by name
};

std::vector<Finding> lint(const Description& description, const model::Problems& problems,
                          const LintOptions& options = {});

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
