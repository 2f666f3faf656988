// JSON Schema 2020-12: a schema is compiled once, and validates values.
//
// Links      data/schema
#pragma once

#include "katana/data/schema/schema.hpp"

// SPDX-License-Identifier: Apache-2.0
