// Formats of JSON Schema, for those who assert them.
//
// Thread     any.
// Allocates  `regex` alone.
// Fails      null for a format that is not known.
// Source     JSON Schema 2020-12, Validation §7.3.
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"

namespace katana::schema {

// Whether a string is of the format. For what is more than to read it once it takes steps; when the
// budget has too few it is false.
using FormatCheck = bool (*)(Bytes, StepBudget&);
// Null: not known, as formats of others are.
FormatCheck format_check(Bytes name) noexcept;

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
