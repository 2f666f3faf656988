// GeneratorOptions: what is made of a description.
//
// Owns       its texts.
// Thread     a value.
#pragma once

#include <string>

namespace katana::openapi::generate {

struct GeneratorOptions {
  std::string name_space = "api";
  std::string source = "api.yaml";  // as the files call it
  bool server = true;
  bool allow_partial = false;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
