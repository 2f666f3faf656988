// Formats of JSON Schema, for those who assert them.
//
// Thread     any.
// Allocates  `regex` alone.
// Fails      null for a format that is not known.
// Source     JSON Schema 2020-12, Validation §7.3.
#pragma once

#include "katana/base/bytes.hpp"

namespace katana::schema {

// Whether a string is of the format.
using FormatCheck = bool (*)(Bytes);
// Null: not known, as formats of others are.
FormatCheck format_check(Bytes name) noexcept;

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
