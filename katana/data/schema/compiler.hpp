// compile(): compiles a document for Evaluation.
//
// Thread     any.
// Allocates  in proportion to the document.
// Fails      with an Error that names the place in the document.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/options.hpp"

namespace katana::schema {

// Compiles the schemas at `pointers` (RFC 6901). They share the schemas to which they refer.
Result<std::shared_ptr<const Compiled>> compile(container::Value document,
                                                std::span<const std::string> pointers,
                                                Options options);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
