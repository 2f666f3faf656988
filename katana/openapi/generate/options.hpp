// GeneratorOptions: what is made of a description.
//
// Owns       its texts.
// Thread     a value.
#pragma once

#include <string>

namespace katana::openapi::generate {

struct GeneratorOptions {
  std::string name_space = "api";   // a name of C++, also "shop::api"; not checked
  std::string source = "api.yaml";  // as the files call it
  bool server = true;               // false: types.hpp alone
  bool allow_partial = false;       // leaves to handlers what is not decoded, with warnings
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
