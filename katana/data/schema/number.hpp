// Numbers of JSON Schema: those of data/container/json_number.hpp.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include "katana/data/container/json_number.hpp"

namespace katana::schema {

using container::is_integer;
using container::is_multiple;
using container::Number;

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
