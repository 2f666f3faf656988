// Form content as data, by the schema of it: urlencoded and multipart/form-data.
//
// A name that comes more than once is a list; a part of JSON is what it is; a file is a string.
//
// Borrows    content and schema, for the call.
// Thread     any, at once.
// Allocates  the value.
// Fails      with what is malformed.
#pragma once

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/container/value.hpp"
#include "katana/schema/schema.hpp"

namespace katana::openapi {

// `content` as it came: escapes are decoded here. At most 1000 values, here and below.
Result<container::Value> urlencoded_value(Bytes content, const schema::Schema& schema);
// `type` is the whole field, with its boundary.
Result<container::Value> multipart_value(Bytes type, Bytes content, const schema::Schema& schema);

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
