// lint(): what a good OpenAPI description does not have: the recommended rules of Spectral's
// `spectral:oas`, by their names and with their severities.
//
//   openapi::model::Problems problems;
//   const openapi::Description api = openapi::read_description("api.yaml", problems);
//   for (const openapi::Finding& each : openapi::lint(api, problems)) … each.describe()
//
// Findings of the reader are `oas3-schema` (or `oas2-schema`). The table of rules is in
// lint_rules(); docs/guides/openapi-contract.md has it, with what each looks for.
//
// Thread     any.
// Allocates  freely.
// Fails      never: a description with errors is looked at as far as it could be read.
// Invariant  findings are in the order of the file.
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/lint/lint_rules.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// What lint() does not say.
struct LintOptions {
  std::vector<std::string> without = {};  // rules by name
};

std::vector<Finding> lint(const Description& description, const model::Problems& problems,
                          const LintOptions& options = {});

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
