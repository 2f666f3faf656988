// json_schema<T>(): the JSON Schema of a configuration (draft 2020-12), by which editors complete
// and check a YAML file.
//
// Owns       nothing.
// Thread     one.
// Allocates  the text.
// Fails      never.
// Invariant  what the reader takes is valid by it; numbers with units (10s, 16KiB) are text in
//            YAML, so only their type is checked by it, and the rest by the program.
#pragma once

#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// For a described struct.
std::string json_schema(const Type& type, Bytes title);
template <Described T>
std::string json_schema(Bytes title) {
  return json_schema(type_of<T>(), title);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
