// OidcLogin: logs users in at an OpenID provider by the authorization code flow (OpenID Connect
// Core 1.0 §3.1). They then have a session of this program.
//
//   auto login = oidc::OidcLogin::make(options, services.get<client::HttpClient>());
//   if (!login) return login.error();
//   router.use(sessions->middleware());           // katana/identity/sessions/sessions.hpp
//   login->add_to(router.group(""));
//
//   GET  {login_path}?return_to=/orders   to the provider, with PKCE (RFC 7636), state and nonce
//   GET  {path of redirect_uri}           back: the code is redeemed for an ID token and a session
//   POST {logout_path}                    the session ends here, then at the provider
//
// The principal has the id `sub`, the issuer `iss`, the name, and the roles of the token.
//
// Owns       options, keys, and the metadata of the provider.
// Thread     any: its calls are coroutines of the reactor of their request.
// Allocates  for each login.
// Fails      make() names the mistake. A login is answered with 400 when it was begun in another
//            browser, or too long ago. The status is 403 when the provider refused the login, 502
//            when its answer is invalid, and 503 when it does not answer. The cause is recorded,
//            and the browser gets only the status.
// Invariant  a code is redeemed only for the browser that began the login (RFC 6749 §10.12), at the
//            provider of that login (RFC 9207). An ID token is accepted only with the nonce of the
//            login. Browsers are sent only to paths of this program and to the provider.
#pragma once

#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

class OidcLogin {
 public:
  // Makes a login without a request to the provider: that is made at the first login.
  static Result<OidcLogin> make(OidcOptions options, client::HttpClient http);

  // Adds the routes. Router::build() fails without the middleware of sessions::Sessions in front.
  void add_to(Group routes) const;

 private:
  class Core;
  explicit OidcLogin(std::shared_ptr<const Core> core) noexcept;
  std::shared_ptr<const Core> core_;
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
