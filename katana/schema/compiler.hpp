// compile(): a document as what Evaluation needs.
//
// Thread     any.
// Allocates  in proportion to the document.
// Fails      with an Error that names the place in the document.
#pragma once

#include <memory>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/container/value.hpp"
#include "katana/schema/compiled.hpp"
#include "katana/schema/options.hpp"

namespace katana::schema {

// Of the schema at `pointer` (RFC 6901).
Result<std::shared_ptr<const Compiled>> compile(container::Value document, Bytes pointer,
                                                Options options);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
