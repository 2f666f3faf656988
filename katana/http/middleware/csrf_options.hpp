// CsrfOptions: whose requests csrf() lets through (csrf.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <string>
#include <vector>

namespace katana {

// Whose requests may change something.
struct CsrfOptions {
  // Beside our own, as browsers send them: "https://app.example.org".
  std::vector<std::string> origins = {};
  // Without Sec-Fetch-Site and Origin a request that has cookies is refused.
  bool refuse_unknown = true;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
