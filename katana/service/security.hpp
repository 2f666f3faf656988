// SecurityWords: what a middleware says about who may pass it, for Router::build() and for OpenAPI.
//
// Owns       its texts.
// Thread     a value; shared by all reactors once a service is built.
// Allocates  its texts, while routes are added.
// Fails      never.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana {

// A way to say who asks, as OpenAPI names them (Security Scheme Object, OpenAPI 3.1 §4.8.27).
struct SecurityScheme {
  // What it is made of.
  enum class Kind : std::uint8_t {
    http,        // the field Authorization, with a scheme
    field,       // a field of the request with a key in it
    cookie,      // a cookie
    mutual_tls,  // a certificate of the client's
  };
  std::string name = {};  // of the scheme in the document: "bearer"
  // Decides what `detail` is.
  Kind kind = Kind::http;
  std::string detail = {};  // the scheme of Authorization, or the name of the field or cookie
  std::string format = {};  // of a bearer token: "JWT"
  // For people; empty: none.
  std::string description = {};
};

struct SecurityWords {
  std::vector<SecurityScheme> schemes = {};  // any one of them will do; empty: asks for none
  std::vector<std::string> scopes = {};      // that it asks for
  bool decides = false;                      // a policy: refuses whoever may not go on (403)
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
