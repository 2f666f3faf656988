// Reads an OpenAPI description or its problems, for the commands of `katana openapi`.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      a line for each problem on standard error, and none.
#pragma once

#include <optional>
#include <string>

#include "katana/openapi/model/description.hpp"

namespace katana::tool {

std::optional<openapi::Description> read_or_say(const char* command, const std::string& file);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
