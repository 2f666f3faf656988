// mark_repeated(): which schemas an evaluation may ask the same thing by several ways.
//
// Of schemas that lead back to themselves, such as a filter of filters, that number doubles with
// each level of the data; of others it depends on the schema alone.
//
// Thread     one, while the schemas are compiled.
// Allocates  in proportion to the schemas.
// Fails      never.
#pragma once

#include "katana/data/schema/compiled.hpp"

namespace katana::schema {

// Sets Node::is_repeated. None is where there is a `$dynamicRef`: what that refers to depends on
// the way.
void mark_repeated(Compiled& compiled);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
