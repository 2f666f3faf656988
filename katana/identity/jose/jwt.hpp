// JWT: claims that an issuer signed (RFC 7519). The verifier states the rules, and a token cannot
// change them (RFC 8725).
//
//   TokenRules rules = {.issuers = {"https://id.example"}, .audiences = {"orders"}};
//   Verified<Token> token = verify_jwt(text, keys, rules, current_time());
//   Result<std::string> text = sign_jwt(key, {.issuer = …, .subject = …, .expires_at = …});
//
//   claim   accepted when
//   exp     present (unless is_expiry_required is false), and now < exp + leeway
//   nbf     absent, or nbf ≤ now + leeway
//   iat     absent, or iat ≤ now + leeway; and with age_max now ≤ iat + age_max + leeway
//   iss     one of `issuers`; any issuer if `issuers` is empty
//   aud     it has one of `audiences`; absent if `audiences` is empty (RFC 7519 §4.1.3)
//   typ     absent (unless is_type_required), or one of `types`; `cty` is absent
//
// Borrows    everything, for the call.
// Thread     any.
// Allocates  the claims.
// Fails      a Refusal.
// Invariant  claims are read once, from bytes with a verified signature. No name occurs twice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/data/container/value.hpp"
#include "katana/identity/jose/jws.hpp"

namespace katana::jose {

// The rules of a verifier; see the table above.
struct TokenRules {
  // The accepted issuers; empty: any issuer with a given key.
  std::vector<std::string> issuers = {};
  // Names of the verifier; empty: a token with `aud` is refused.
  std::vector<std::string> audiences = {};
  // The accepted `typ`, without "application/", ignoring case (RFC 7515 §4.1.9). Tokens for another
  // purpose have another type (RFC 8725 §3.11): "logout+jwt", "dpop+jwt".
  std::vector<std::string> types = {"JWT", "at+jwt"};
  bool is_type_required = false;
  bool is_expiry_required = true;
  bool is_subject_required = true;
  // The largest difference of clocks.
  Duration leeway = seconds(30);
  // The largest age since the token was issued; 0: any. With it a token must have `iat`.
  Duration age_max = {};
};

// Registered claims (RFC 7519 §4.1), and all others unchanged.
struct Claims {
  std::string issuer = {};                  // iss
  std::string subject = {};                 // sub
  std::vector<std::string> audiences = {};  // aud
  std::string id = {};                      // jti
  // `exp`
  std::optional<Timestamp> expires_at = {};
  // `nbf`
  std::optional<Timestamp> not_before = {};
  // `iat`
  std::optional<Timestamp> issued_at = {};
  // All claims that have no member here.
  container::Object others = {};
};

// A verified token.
struct Token {
  // The header of the signature.
  Header header;
  // The signed claims.
  Claims claims;
};

// Verifies a token: the signature first, then type, claims, times and parties.
Verified<Token> verify_jwt(Bytes text, std::span<const VerificationKey> keys,
                           const TokenRules& rules, Timestamp now);

// Checks the times of claims, which may become invalid while a verified token is kept.
Verified<void> check_times(const Claims& claims, const TokenRules& rules, Timestamp now);

// Signs claims. `type` is "at+jwt" for an access token (RFC 9068). It fails if a registered claim
// is among the others.
Result<std::string> sign_jwt(const SigningKey& key, const Claims& claims, Bytes type = "JWT");

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
