// OidcLogin: users log in at an OpenID provider (OpenID Connect Core 1.0 §3.1, the authorization
// code flow), and have a session of this program from then on.
//
//   auto login = oidc::OidcLogin::make(options, services.get<client::HttpClient>());
//   if (!login) return login.error();
//   router.use(sessions->middleware());           // katana/identity/sessions/sessions.hpp
//   login->add_to(router.group(""));
//
//   GET  {login_path}?return_to=/orders   to the provider, with PKCE (RFC 7636), state and nonce
//   GET  {path of redirect_uri}           back: the code becomes an ID token, that a session
//   POST {logout_path}                    the session ends here, then at the provider
//
// The principal has the id `sub`, the issuer `iss`, the name, and the roles that the token says.
//
// Owns       options, keys, and what the provider said of itself.
// Thread     any: its calls are coroutines of the reactor of their request.
// Allocates  for each login.
// Fails      make() names what is wrong. A login is answered with 400 when it was not begun in this
//            browser, or too long ago; 403 when the provider refused it; 502 when what it said is
//            not to be believed; 503 when it does not answer. The reply keeps the cause, which is
//            recorded, and tells the browser no more than that.
// Invariant  a code is redeemed only for the browser that began the login (RFC 6749 §10.12), at the
//            provider that it was begun with (RFC 9207), and an ID token is believed only with the
//            nonce of that login. Browsers are sent to paths of this program and to the provider,
//            nowhere else.
#pragma once

#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

class OidcLogin {
 public:
  // Asks the provider nothing yet: that is done at the first login.
  static Result<OidcLogin> make(OidcOptions options, client::HttpClient http);

  // Router::build() fails without the middleware of sessions::Sessions in front.
  void add_to(Group routes) const;

 private:
  class Core;
  explicit OidcLogin(std::shared_ptr<const Core> core) noexcept;
  std::shared_ptr<const Core> core_;
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
