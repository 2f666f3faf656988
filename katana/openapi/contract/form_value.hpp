// Form content as data, by the schema of it: urlencoded and multipart/form-data.
//
// Names with brackets are objects and lists (data/container/form_tree.hpp). A name that comes more
// than once is a list. A part of JSON is read as JSON, and so is a text where the schema takes only
// an object. A file is a string.
//
// Borrows    content, schema and styles, for the call.
// Thread     any, at once.
// Allocates  the value.
// Fails      when the content is malformed; adds to the findings faults that the value cannot show.
#pragma once

#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/schema.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// How the list or the object of a property is written.
struct FormStyle {
  std::string name;                         // of the property
  model::Style style = model::Style::form;  // as model::Encoding::style
  bool explode = true;                      // as model::Encoding::explode
};

// `content` as it came: escapes are decoded here. At most 1000 values, here and below.
Result<container::Value> urlencoded_value(Bytes content, const schema::Schema& schema,
                                          std::span<const FormStyle> styles,
                                          container::Findings& findings);
// `type` is the whole field, with its boundary.
Result<container::Value> multipart_value(Bytes type, Bytes content, const schema::Schema& schema,
                                         container::Findings& findings);

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
