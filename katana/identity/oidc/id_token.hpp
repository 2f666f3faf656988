// ID tokens: statements of a provider about a user who has logged in (OpenID Connect Core 1.0 §2).
//
// Thread     any; there is no state.
// Allocates  the returned value.
// Fails      a Refusal with the reason.
// Invariant  an accepted token is for this client, of this login, and signed by a key of the
//            provider.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

// The requirements for a token. Borrows all of them.
struct IdTokenRules {
  const OidcOptions& options;  // issuer, client and leeway
  Bytes nonce;                 // nonce of the login
  Bytes access_token;          // access token that came with it; empty: none
};

// Verifies a token by OpenID Connect Core 1.0 §3.1.3.7. The key decides the algorithm.
jose::Verified<jose::Token> verify_id_token(Bytes text,
                                            const std::vector<jose::VerificationKey>& keys,
                                            const IdTokenRules& rules, Timestamp now);

// The facts of a token: `sub`, `iss`, its name, and the values of the claim `roles_claim`.
auth::PrincipalFacts facts_of(const jose::Token& token, const std::string& roles_claim);

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
