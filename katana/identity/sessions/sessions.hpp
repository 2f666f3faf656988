// Sessions: middleware that finds the session of a request, which handlers take as
// FromContext<UserSession>, and the user who has logged in, as FromContext<auth::Principal>.
//
//   auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
//   if (!sessions) return sessions.error();
//   router.use(sessions->middleware());
//   router.post("/login", log_in);                        // FromContext<UserSession>
//   Group account = router.group("/account");
//   account.use(sessions->require_login());
//   account.get("/", show);                               // FromContext<auth::Principal>
//
// A request whose handler does not ask for its session costs the look for its cookie, and nothing
// is loaded.
//
// Owns       its options, its keys, and a share of the store.
// Thread     any: it does not change.
// Allocates  UserSession says.
// Fails      make functions with an Error that names the option, and what it may be.
// Invariant  Set-Cookie is sent only when the cookie changes: at the first set(), at a login and
//            behind it never, until it ends; of sessions that are cookies with each change, and
//            once in touch_after.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/identity/sessions/session_options.hpp"
#include "katana/identity/sessions/store.hpp"
#include "katana/identity/sessions/user_session.hpp"

namespace katana::sessions {

struct LoginPage;  // login_page.hpp

class Sessions {
 public:
  // See store.hpp. REQUIRES nothing: a null store is an Error.
  static Result<Sessions> in_store(SessionOptions options, std::shared_ptr<SessionStore> store);
  // Each session is its own cookie: see cookie_sealer.hpp for `secrets`.
  static Result<Sessions> in_cookies(SessionOptions options, std::span<const std::string> secrets);

  // To be given to use(): handlers behind it may take FromContext<UserSession>.
  Middleware middleware() const;
  // Behind it: session_principal(), which an OpenAPI document tells of as a key in a cookie.
  Middleware require_login() const;
  // The same, and a browser is sent to the page (login_page.hpp).
  Middleware require_login(LoginPage page) const;
  // All sessions of a principal, for when a password changes or an account is closed. Of
  // in_cookies(): Code::unsupported.
  Task<Result<std::int64_t>> end_all(std::string issuer, std::string principal) const;

 private:
  explicit Sessions(std::shared_ptr<const detail::SessionManager> manager) noexcept
      : manager_(std::move(manager)) {}
  std::shared_ptr<const detail::SessionManager> manager_;
};

// Middleware behind that of Sessions: 401 unless a user has logged in.
Task<std::expected<auth::Principal, Reply>> session_principal(FromContext<UserSession> session);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
