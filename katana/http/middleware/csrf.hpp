// Cross-site request forgery: requests that change something come from our own pages, or from
// origins that are named.
//
//   auto own = csrf({.origins = {"https://app.example.org"}});
//   if (!own) return own.error();
//   router.use(*own);
//
// | Sec-Fetch-Site | Origin | the request |
// |---|---|---|
// | same-origin, none | | goes on: our page, or the user: an address typed, a bookmark |
// | another | in `origins` | goes on |
// | another | another, or none | 403 |
// | none is sent | our scheme, host and port, or in `origins` | goes on: a browser of before 2023 |
// | none is sent | another | 403 |
// | none is sent | none is sent | 403 with a Cookie, else goes on: no browser has sent it |
//
// Our scheme is https where the request came by TLS, or a trusted proxy says so; otherwise it is
// not known, and that of the origin.
//
// GET, HEAD, OPTIONS and TRACE go on (RFC 9110 §9.2.1), but for WebSocket handshakes, which a page
// of another origin can make with the user's cookies. For forms of browsers that send neither
// field there are tokens: identity/sessions/form_token.hpp.
//
// Owns       its options.
// Thread     any: the reactor's that serves.
// Allocates  nothing for a request that goes on.
// Fails      csrf() with an Error for what is no origin; 403 as a problem document.
// Invariant  a page of another origin that is not named changes nothing by a browser's cookies.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/csrf_options.hpp"

namespace katana {

// To be given to use().
Result<Middleware> csrf(CsrfOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
