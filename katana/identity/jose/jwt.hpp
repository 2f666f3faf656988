// JWT: claims that an issuer signed (RFC 7519), judged by rules that the verifier states and the
// token cannot change (RFC 8725).
//
//   TokenRules rules = {.issuers = {"https://id.example"}, .audiences = {"orders"}};
//   Verified<Token> token = verify_jwt(text, keys, rules, current_time());
//   Result<std::string> text = sign_jwt(key, {.issuer = …, .subject = …, .expires_at = …});
//
//   claim   accepted when
//   exp     it is there (unless is_expiry_required is false) and now < exp + leeway
//   nbf     absent, or nbf ≤ now + leeway
//   iat     absent, or iat ≤ now + leeway; and with age_max now ≤ iat + age_max + leeway
//   iss     one of `issuers`; without any: whatever it is
//   aud     one of it is one of `audiences`; without any: absent (RFC 7519 §4.1.3)
//   typ     absent (unless is_type_required), or one of `types`; `cty` is absent
//
// Borrows    everything, for the call.
// Thread     any.
// Allocates  the claims.
// Fails      a Refusal.
// Invariant  claims are read once, from bytes whose signature is right. No name comes twice.
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

// What a verifier believes; see the table above.
struct TokenRules {
  // Whose tokens are believed; empty: of everybody whose keys are given.
  std::vector<std::string> issuers = {};
  // Names of the verifier; empty: a token with `aud` is refused.
  std::vector<std::string> audiences = {};
  // Of `typ`, without "application/", in any case (RFC 7515 §4.1.9). Tokens made for another
  // purpose say another type (RFC 8725 §3.11): "logout+jwt", "dpop+jwt".
  std::vector<std::string> types = {"JWT", "at+jwt"};
  bool is_type_required = false;
  bool is_expiry_required = true;
  bool is_subject_required = true;
  // How far clocks may differ.
  Duration leeway = seconds(30);
  // Since it was issued; 0: any. With it a token has to say `iat`.
  Duration age_max = {};
};

// Registered claims (RFC 7519 §4.1), and the others as they are.
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

// A token that is believed.
struct Token {
  // For the signature.
  Header header;
  // As they were signed.
  Claims claims;
};

// Signature first, then type, claims, times and parties.
Verified<Token> verify_jwt(Bytes text, std::span<const VerificationKey> keys,
                           const TokenRules& rules, Timestamp now);

// Of claims that are read already: what changes while a verified token is kept.
Verified<void> check_times(const Claims& claims, const TokenRules& rules, Timestamp now);

// `type`: "at+jwt" for an access token (RFC 9068). Fails if a registered claim is among the others.
Result<std::string> sign_jwt(const SigningKey& key, const Claims& claims, Bytes type = "JWT");

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
