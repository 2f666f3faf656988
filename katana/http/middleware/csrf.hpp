// Cross-site request forgery: only pages of this service or of named origins may send requests that
// change something.
//
//   auto own = csrf({.origins = {"https://app.example.org"}});
//   if (!own) return own.error();
//   router.use(*own);
//
// | Sec-Fetch-Site | Origin | the request |
// |---|---|---|
// | same-origin, none |   | passes: a page of this service, or the user (a typed address) |
// | another           | in `origins` | passes |
// | another           | another, or none | 403 |
// | none is sent      | this scheme, host and port, or in `origins` | passes: an old browser |
// | none is sent      | another | 403 |
// | none is sent      | none is sent | 403 with a Cookie, otherwise passes: no browser sent it |
//
// The scheme is https if the request came by TLS, or if a trusted proxy says so. Otherwise it is
// unknown, and counts as that of the origin.
//
// GET, HEAD, OPTIONS and TRACE pass (RFC 9110 §9.2.1). WebSocket handshakes do not, because a page
// of another origin can make them with the user's cookies. For forms of browsers that send neither
// field there are tokens: identity/sessions/form_token.hpp.
//
// Owns       its options.
// Thread     any: the reactor's that serves.
// Allocates  nothing for a request that passes.
// Fails      csrf() with an Error for an invalid origin; 403 as a problem document.
// Invariant  a page of another origin that is not named cannot use a browser's cookies to change
//            anything.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/csrf_options.hpp"

namespace katana {

// Makes the middleware for use().
Result<Middleware> csrf(CsrfOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
