// login_page: sends browsers that have not logged in to a login page, and back.
//
//   account.use(login_page({.path = "/login"})).use(sessions->require_login());
//   account.use(sessions->require_login({.path = "/login"}));                     // both in one
//
//   router.post("/login", [](…, Query<LoginQuery> query) {
//     …                                             // ?return_to=/account/orders?page=2
//     return Reply::redirect(safe_return_path(query->return_to));
//   });
//
// A 401 becomes a 303 to the page if the request is GET or HEAD and its Accept prefers text/html
// (accept.hpp). If Sec-Fetch-Mode is sent, it must be a navigation. All other requests get the 401:
// calls of an API, fetch(), forms.
//
// Owns       its options.
// Thread     the reactor's.
// Allocates  only for a redirect.
// Fails      Router::build() for a path that is neither a path nor an https:// URL.
// Invariant  the return path is a path of this service: it never names another host.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/middleware.hpp"

namespace katana::sessions {

// The target for browsers that are not logged in.
struct LoginPage {
  // A path of this service, or the https:// URL of another service.
  std::string path = {};
  // The query parameter with the path and query of the request; empty: none is sent.
  std::string return_parameter = "return_to";
};

Middleware login_page(LoginPage page);

// Returns `path` if it is a path of this service, with or without a query; otherwise "/". The
// handler of the login needs it, because the path comes from the client.
Bytes safe_return_path(Bytes path) noexcept;

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
