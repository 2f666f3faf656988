// GeneratorOptions: the files that are made of a description.
//
// Owns       its texts.
// Thread     a value.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::openapi::generate {

// A request that an operation takes, or the reason why there is none.
struct RequestSample {
  std::string target = {};                                       // path and query
  std::vector<std::pair<std::string, std::string>> fields = {};  // of the header
  std::string content = {};                                      // as it is sent
  std::string why_not = {};                                      // empty: there is a request
};

struct GeneratorOptions {
  std::string name_space = "api";   // a name of C++, also "shop::api", as it is
  std::string source = "api.yaml";  // as the files call it
  bool server = true;               // interfaces and routes; with client and tests false: types.hpp
  bool client = false;              // a client for each tag
  bool tests = false;               // of the server
  // The sample requests of the tests, by "GET /items/{id}".
  std::map<std::string, RequestSample> samples = {};
  bool allow_partial = false;  // leaves undecoded constructs to handlers, with warnings
  bool group_by_path = false;  // an operation without a tag has its path's first word as one
  // The number of files for the sources of all tags: api.cpp, api_2.cpp, …. At least 1.
  std::size_t sources = 1;
  // Fails for a pattern that the router of the server refuses. Empty: every pattern is right.
  std::function<Result<void>(Bytes method, Bytes pattern)> check_route = {};
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
