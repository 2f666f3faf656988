// Sessions: middleware that finds the session of a request, and the user who has logged in.
// Handlers take them as FromContext<UserSession> and FromContext<auth::Principal>.
//
//   auto sessions = Sessions::in_store({}, std::make_shared<MemorySessionStore>());
//   if (!sessions) return sessions.error();
//   router.use(sessions->middleware());
//   router.post("/login", log_in);                        // FromContext<UserSession>
//   Group account = router.group("/account");
//   account.use(sessions->require_login());
//   account.get("/", show);                               // FromContext<auth::Principal>
//
// If the handler of a request does not ask for its session, only the cookie is searched, and
// nothing is loaded.
//
// Owns       its options, its keys, and a share of the store.
// Thread     any: it does not change.
// Allocates  as UserSession says.
// Fails      The makers return an Error that names the wrong option and its allowed values.
// Invariant  Set-Cookie is sent only when the cookie changes. With a store that is at the first
//            set() or form secret, at a login, at a renewal and at the end. Sessions that are
//            cookies send it with each change, and once in touch_after.
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
  // Keeps sessions in a store (store.hpp). A null store is an Error.
  static Result<Sessions> in_store(SessionOptions options, std::shared_ptr<SessionStore> store);
  // Keeps each session in its cookie. See cookie_sealer.hpp for `secrets`.
  static Result<Sessions> in_cookies(SessionOptions options, std::span<const std::string> secrets);

  // The middleware for use(): handlers behind it may take FromContext<UserSession>.
  Middleware middleware() const;
  // session_principal() as middleware, for use behind middleware(). An OpenAPI document describes
  // it as a key in a cookie.
  Middleware require_login() const;
  // The same, and it sends a browser to the page (login_page.hpp).
  Middleware require_login(LoginPage page) const;
  // Ends all sessions of a principal, when a password changes or an account is closed. Returns
  // their number. Code::unsupported for in_cookies().
  Task<Result<std::int64_t>> end_all(std::string issuer, std::string principal) const;

 private:
  explicit Sessions(std::shared_ptr<const detail::SessionManager> manager) noexcept
      : manager_(std::move(manager)) {}
  std::shared_ptr<const detail::SessionManager> manager_;
};

// Middleware behind that of Sessions, which answers 401 unless a user has logged in.
Task<std::expected<auth::Principal, Reply>> session_principal(FromContext<UserSession> session);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
