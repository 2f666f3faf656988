// bearer: identifies the client by a token in `Authorization: Bearer` (RFC 6750) that an issuer
// signed (JWT).
//
//   auto keys = std::make_shared<auth::TokenKeys>(*jose::read_jwk_set(json, …));
//   api.use(auth::bearer({.keys = keys,
//                         .rules = {.issuers = {"https://id.example"}, .audiences = {"orders"}}}));
//
//   no token                           401, with the expected scheme
//   two fields, or one and a query     400 invalid_request (RFC 6750 §2)
//   a token that is refused            401 invalid_token; only on_refused gets the reason
//   no keys: their source is down      503
//   scope that a policy misses         403 insufficient_scope (policy.hpp)
//
// Each reactor keeps a verified token until it expires, its key is replaced, or it is revoked. The
// next request with the token then costs only a comparison of its text.
//
// Owns       a share of keys and revocations; a cache for each thread that serves.
// Thread     the reactor's; one object serves all of them.
// Allocates  to verify a token. For a kept token: the principal in the context, from the recycler.
// Fails      by a reply, as above.
// Invariant  no request is served with an expired or revoked token, or one of a replaced key. The
//            time at which the head of the request was complete counts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "katana/identity/auth/authenticator.hpp"
#include "katana/identity/auth/revocations.hpp"
#include "katana/identity/auth/token_keys.hpp"
#include "katana/identity/jose/jwt.hpp"

namespace katana::auth {

// Options: the accepted tokens, and the way in which they are read.
struct BearerOptions {
  // The keys of the issuers; required.
  std::shared_ptr<TokenKeys> keys = {};
  // Rules for tokens. The subject is always required.
  jose::TokenRules rules = {};
  std::shared_ptr<const Revocations> revocations = {};  // null: none
  std::string realm = {};                               // of the challenge; empty: "restricted"
  // The scheme in front of the token, ignoring case, and in the challenge. Some APIs use "Token".
  std::string scheme = "Bearer";
  // Answers 400 to a token that comes neither by TLS nor by way of a trusted proxy that says https
  // (RFC 6750 §5.3). By default such a token is taken: a proxy that is not known here may have
  // ended TLS.
  bool requires_tls = false;
  // The JSON pointer to the roles among the claims: "/roles", "/realm_access/roles".
  std::string roles = "/roles";
  std::string scopes = "/scope";  // text with spaces between scopes, or a list
  // The limits of kept tokens of each reactor. 0: no token is kept.
  std::size_t cached_tokens_max = 1024;
  std::size_t cached_bytes_max = 4 * 1024 * 1024;
  // Called with the reason of a refusal, for the log, on the thread of the request.
  std::function<void(const jose::Refusal&)> on_refused = {};
};

Authentication bearer(BearerOptions options);

// The principal of a verified token.
Principal principal_of(jose::Claims claims, const BearerOptions& options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
