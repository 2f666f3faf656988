// Cross-origin resource sharing (Fetch Standard §3.3): selects the pages of other origins that may
// read the replies of a service.
//
//   auto shared = cors({.origins = {"https://app.example.org"}, .credentials = true});
//   if (!shared) return shared.error();
//   router.use(*shared);
//
// Owns       its options.
// Thread     any: the reactor's that serves.
// Fails      cors() with an Error for an option that a browser would not accept. An origin that is
//            not allowed gets the same reply without the fields; the browser then hides it from the
//            page.
// Invariant  a reply that depends on the origin says so (Vary), and a cache does not give it to
//            another origin.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana {

// Selects the pages of other origins that may read replies (Fetch standard).
struct CorsOptions {
  // Origins as browsers send them, "https://example.org:8443"; one "*": any, without credentials.
  std::vector<std::string> origins = {};
  // Requests may have cookies and other credentials.
  bool credentials = false;
  // Fields that a page may send in addition to the simple ones; one "*": any.
  std::vector<std::string> request_fields = {"Content-Type"};
  // Fields of replies that a page may read in addition to the simple ones.
  std::vector<std::string> reply_fields = {};
  // The time that a browser may keep the result of a preflight.
  Duration max_age = seconds(600);
};

// Use it on the router, because preflights are answered where no route is. OPTIONS of a path with
// other methods is answered with 204, which allows those methods.
Result<Middleware> cors(CorsOptions options);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
