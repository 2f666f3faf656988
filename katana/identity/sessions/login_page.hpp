// login_page: browsers that have not logged in are sent to a page where they can, and back.
//
//   account.use(login_page({.path = "/login"})).use(sessions->require_login());
//   account.use(sessions->require_login({.path = "/login"}));                     // both in one
//
//   router.post("/login", [](…, Query<LoginQuery> query) {
//     …                                             // ?return_to=/account/orders?page=2
//     return Reply::redirect(safe_return_path(query->return_to));
//   });
//
// A 401 becomes 303 to the page where the request is GET or HEAD, its Accept prefers text/html
// (accept.hpp), and a browser navigates (Sec-Fetch-Mode, if it is sent). Everything else gets the
// 401: calls of an API, fetch(), forms.
//
// Owns       its options.
// Thread     the reactor's.
// Allocates  for a redirect alone.
// Fails      Router::build() for a path that is neither a path nor an https:// URL.
// Invariant  the return path is one of this service: it never names another host.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/middleware.hpp"

namespace katana::sessions {

// Where browsers that are not logged in are sent.
struct LoginPage {
  // A path of this service, or the https:// URL of another.
  std::string path = {};
  // Of the query that has the path and query of the request; empty: none is sent.
  std::string return_parameter = "return_to";
};

Middleware login_page(LoginPage page);

// `path` if it is a path of this service, with or without a query; else "/". For the handler of the
// login, which gets it from the client.
Bytes safe_return_path(Bytes path) noexcept;

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
