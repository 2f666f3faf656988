// The values that a form or a query sends by names with brackets, as data for a schema.
//
// Borrows    the tree and the shape of the schema, for the call.
// Thread     any.
// Allocates  the value.
// Fails      adds to the findings a name that is given more than once and is no list, and a part of
//            JSON that is malformed. The schema decides whether the value fits.
// Source     OpenAPI 3.1.1 §4.8.12 (deepObject), §4.8.15 (Encoding Object: an object without a
//            style is JSON).
#pragma once

#include "katana/data/container/findings.hpp"
#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/shape.hpp"

namespace katana::openapi {

// The value at a node; `pointer` is its place, for findings.
container::Value form_tree_value(const container::FormTree::Node& node, const schema::Shape& shape,
                                 const std::string& pointer, container::Findings& findings);

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
