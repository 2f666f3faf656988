// CsrfOptions: the origins whose requests csrf() lets pass (csrf.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <string>
#include <vector>

namespace katana {

// Selects the requests that may change something.
struct CsrfOptions {
  // Other origins, as browsers send them: "https://app.example.org". The service's origin always
  // may.
  std::vector<std::string> origins = {};
  // Refuses a request with cookies that has neither Sec-Fetch-Site nor Origin.
  bool refuse_unknown = true;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
