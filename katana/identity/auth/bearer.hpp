// bearer: who asks, by a token in `Authorization: Bearer` (RFC 6750) that an issuer signed (JWT).
//
//   auto keys = std::make_shared<auth::TokenKeys>(*jose::read_jwk_set(json, …));
//   api.use(auth::bearer({.keys = keys,
//                         .rules = {.issuers = {"https://id.example"}, .audiences = {"orders"}}}));
//
//   no token                           401, and which scheme is wanted
//   two fields, or one and a query     400 invalid_request (RFC 6750 §2)
//   a token that is not believed       401 invalid_token; the reason is for on_refused alone
//   no keys: their source is down      503
//   scope that a policy misses         403 insufficient_scope (policy.hpp)
//
// A token that was verified is kept by each reactor until it expires, its key is replaced, or it is
// revoked; the next request with it costs a comparison of its text.
//
// Owns       a share of keys and revocations; a cache for each thread that serves.
// Thread     the reactor's; one object serves all of them.
// Allocates  to verify a token. One that is kept: the principal in the context, from the recycler.
// Fails      by a reply, as above.
// Invariant  no request is served with a token that is expired, revoked or of a replaced key, at
//            the time at which its head was here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "katana/identity/auth/authenticator.hpp"
#include "katana/identity/auth/revocations.hpp"
#include "katana/identity/auth/token_keys.hpp"
#include "katana/identity/jose/jwt.hpp"

namespace katana::auth {

// Whose tokens are believed, and how they are read.
struct BearerOptions {
  // Required.
  std::shared_ptr<TokenKeys> keys = {};
  // The subject is always required.
  jose::TokenRules rules = {};
  std::shared_ptr<const Revocations> revocations = {};  // null: none
  std::string realm = {};                               // of the challenge; empty: "restricted"
  // In front of the token, in any case, and in the challenge: "Token" for APIs that have it so.
  std::string scheme = "Bearer";
  // Where roles are found among the claims, a JSON pointer: "/roles", "/realm_access/roles".
  std::string roles = "/roles";
  std::string scopes = "/scope";  // text with spaces between them, or a list
  // For each reactor. 0: no token is kept.
  std::size_t cached_tokens_max = 1024;
  std::size_t cached_bytes_max = 4 * 1024 * 1024;
  // Told why a token was refused, for the log; on the thread of the request.
  std::function<void(const jose::Refusal&)> on_refused = {};
};

Authentication bearer(BearerOptions options);

// What a verified token says of who has it.
Principal principal_of(jose::Claims claims, const BearerOptions& options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
