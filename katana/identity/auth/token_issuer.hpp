// TokenIssuer: signs the tokens of a program that also checks them, for clients that log in.
//
//   auto issuer = auth::TokenIssuer::make({.secret = settings.token_key, .issuer = "shop"});
//   …
//   KATANA_CO_TRY(auth::IssuedToken issued, tokens->issue({.id = user.id, .roles = {"editor"}}));
//   co_return Json(issued);                                       // {"token":"eyJ…","expires":…}
//
//   api.use(services.get<auth::TokenIssuer>().bearer());          // FromContext<Principal>
//
// A token has the id, the name, the roles and the scopes of the principal. Tokens are signed by
// HS256 with the secret. Programs that check tokens of others use auth::bearer() with the public
// keys of their issuer.
//
// Owns       the key.
// Thread     any: it does not change.
// Allocates  as jose::sign_jwt() and auth::bearer().
// Fails      make() for a secret that is shorter than 32 bytes or looks like a password.
// Invariant  bearer() takes only tokens of this key and of this issuer, until 30 s behind their end
//            (TokenRules::leeway).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/jose/key.hpp"

namespace katana::auth {

// How tokens are signed, and what they say.
struct TokenIssuerOptions {
  // At least 32 random bytes, such as of `openssl rand -hex 32`; the same in all instances. Empty:
  // a random one, and tokens end with the process.
  std::optional<std::string> secret = {};
  std::string issuer = {};            // `iss` of the tokens; required
  Duration lifetime = seconds(3600);  // of a token
  std::string scheme = "Bearer";      // see BearerOptions::scheme
};

// A token, for the client.
struct IssuedToken {
  std::string token;  // a JWT, for the field Authorization
  Timestamp expires;  // it is refused from then on
};
KATANA_DESCRIBE(IssuedToken, token, expires)

class TokenIssuer {
 public:
  // Fails for a secret that is weak, and without an issuer.
  static Result<std::unique_ptr<TokenIssuer>> make(TokenIssuerOptions options);

  // Signs a token for a client who has proved to be `who`. REQUIRES who.id.
  Result<IssuedToken> issue(const PrincipalFacts& who) const;
  // Identifies clients by these tokens; for Group::use().
  Authentication bearer() const;

 private:
  TokenIssuer(TokenIssuerOptions options, jose::SigningKey key);

  const TokenIssuerOptions options_;
  const jose::SigningKey key_;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
