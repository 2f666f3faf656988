// SecurityDocumentation: the clients that a middleware lets pass, for Router::build() and for
// OpenAPI.
//
// Owns       its texts.
// Thread     a value; shared by all reactors once a service is built.
// Allocates  its texts, while routes are added.
// Fails      never.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace katana {

// A way to get a token (OAuth Flow Object, OpenAPI 3.1 §4.8.29).
struct OAuthFlow {
  // How the client gets its token.
  enum class Kind : std::uint8_t { authorization_code, client_credentials, implicit, password };
  // The way to get a token.
  Kind kind = Kind::authorization_code;
  std::string authorization_url = {};  // of authorization_code and implicit
  std::string token_url = {};          // of all but implicit
  std::string refresh_url = {};        // empty: none
  std::vector<std::pair<std::string, std::string>> scopes = {};  // with what each allows
};

// A way to identify the client, as OpenAPI names them (Security Scheme Object, OpenAPI 3.1
// §4.8.27).
struct SecurityScheme {
  // The carrier of the credentials.
  enum class Kind : std::uint8_t {
    http,            // the field Authorization, with a scheme
    field,           // a field of the request with a key in it
    cookie,          // a cookie
    mutual_tls,      // a certificate of the client's
    query,           // a parameter of the query with a key in it
    openid_connect,  // a token of an OpenID provider, whose configuration is at a URL
    oauth2,          // a token of an OAuth 2 server, by one of `flows`
  };
  std::string name = {};  // of the scheme in the document: "bearer"
  // Decides the meaning of `detail`.
  Kind kind = Kind::http;
  // The scheme of Authorization, the name of the field, cookie or parameter, or the URL.
  std::string detail = {};
  std::string format = {};  // of a bearer token: "JWT"
  // For people; empty: none.
  std::string description = {};
  std::vector<OAuthFlow> flows = {};  // of oauth2
};

struct SecurityDocumentation {
  std::vector<SecurityScheme> schemes = {};  // any one of them will do; empty: asks for none
  std::vector<std::string> scopes = {};      // that it asks for
  bool decides = false;                      // a policy: refuses clients without the right (403)
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
