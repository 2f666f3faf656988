// Cross-origin resource sharing (Fetch Standard §3.3): which pages of other origins may use what a
// service answers.
//
//   auto shared = cors({.origins = {"https://app.example.org"}, .credentials = true});
//   if (!shared) return shared.error();
//   router.use(*shared);
//
// Owns       its options.
// Thread     any: the reactor's that serves.
// Fails      cors() with an Error for what a browser would not accept. An origin that is not
//            allowed gets the same reply without the fields: it is the browser that keeps it from
//            the page.
// Invariant  a reply that depends on the origin says so (Vary), so that no cache gives it to
//            another.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana {

// Which pages of other origins may read replies (Fetch standard).
struct CorsOptions {
  // As browsers send them, "https://example.org:8443"; one "*": any, without credentials.
  std::vector<std::string> origins = {};
  // Cookies and other credentials may come with requests.
  bool credentials = false;
  // Fields that a page may send beside the simple ones; one "*": any.
  std::vector<std::string> request_fields = {"Content-Type"};
  // Fields of replies that a page may read beside the simple ones.
  std::vector<std::string> reply_fields = {};
  // How long a browser may keep what a preflight said.
  Duration max_age = seconds(600);
};

// Use it on the router, for preflights are answered where no route is: OPTIONS of a path that has
// other methods is answered with 204, and those methods are the ones that are allowed.
Result<Middleware> cors(CorsOptions options);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
