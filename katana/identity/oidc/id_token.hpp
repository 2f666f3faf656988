// ID tokens: what a provider says of who has logged in (OpenID Connect Core 1.0 §2).
//
// Thread     any; there is no state.
// Allocates  what is returned.
// Fails      a Refusal that says why the token is not believed.
// Invariant  a token is for this client, of this login, and signed by a key of the provider.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

// What a token has to be of. Borrows all of it.
struct IdTokenRules {
  const OidcOptions& options;  // issuer, client and leeway
  Bytes nonce;                 // of the login
  Bytes access_token;          // that came with it; empty: none
};

// OpenID Connect Core 1.0 §3.1.3.7, without what the algorithm of a key says already.
jose::Verified<jose::Token> verify_id_token(Bytes text,
                                            const std::vector<jose::VerificationKey>& keys,
                                            const IdTokenRules& rules, Timestamp now);

// Its `sub` and `iss`, its name, and the values of the claim `roles_claim`.
auth::PrincipalFacts facts_of(const jose::Token& token, const std::string& roles_claim);

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
