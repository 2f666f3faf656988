// Whether examples and defaults fit their schemas.
//
// Borrows    all, for the call.
// Thread     any.
// Allocates  schemas, compiled.
// Fails      never: a schema that cannot be compiled is a finding at its place.
#pragma once

#include "katana/openapi/lint/rule_report.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::detail {

void check_examples(const Description& description, RuleReport& report);

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
