// The text of `katana stack`: suspended coroutines, those with the same stack together.
//
// Owns       its texts.
// Thread     any.
// Allocates  freely.
// Fails      never.
#pragma once

#include <string>
#include <vector>

#include "katana/app/live_documents.hpp"

namespace katana::tool {

// The lines of a document, the stack that has waited longest first. `is_single`: one stack for each
// coroutine, with the id of its request.
std::vector<std::string> stack_lines(const app::CoroutinesDocument& document, bool is_single);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
