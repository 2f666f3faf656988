// json_schema<T>(): the JSON Schema of a configuration (draft 2020-12). Editors use it to complete
// and check a YAML file.
//
// Owns       nothing.
// Thread     one.
// Allocates  the text.
// Fails      never.
// Invariant  the schema accepts all configurations that the reader accepts. Numbers with units
//            (10s, 16KiB) are text in YAML. The schema checks only their type, and the program
//            checks the rest.
#pragma once

#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// The schema of a described struct.
std::string json_schema(const Type& type, Bytes title);
template <Described T>
std::string json_schema(Bytes title) {
  return json_schema(type_of<T>(), title);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
