// mark_repeated(): marks the schemas that an evaluation may reach by several paths for one value.
//
// For recursive schemas, such as a filter of filters, the number of paths doubles with each level
// of the data. For other schemas it depends only on the schema.
//
// Thread     one, while the schemas are compiled.
// Allocates  in proportion to the schemas.
// Fails      never.
#pragma once

#include "katana/data/schema/compiled.hpp"

namespace katana::schema {

// Sets Node::is_repeated. It marks no schema if there is a `$dynamicRef`, because the target of one
// depends on the path.
void mark_repeated(Compiled& compiled);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
