// Formats of JSON Schema, for schemas that assert them.
//
// Thread     any.
// Allocates  only for `regex`.
// Fails      null for an unknown format.
// Source     JSON Schema 2020-12, Validation §7.3.
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"

namespace katana::schema {

// A function that returns true if a string has the format. It takes steps for work beyond one read
// of the string. If the budget has too few, it returns false.
using FormatCheck = bool (*)(Bytes, StepBudget&);
// The check of a format; null: the format is unknown.
FormatCheck format_check(Bytes name) noexcept;

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
