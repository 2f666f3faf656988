#include "katana/identity/oidc/id_token.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::oidc {
namespace {

using container::Object;
using container::Value;
using jose::Reason;

// The text of a claim; empty: it is missing or no text.
Bytes text_of(const Object& claims, Bytes name) noexcept {
  const Value* const value = claims.find(name);
  return value != nullptr && value->kind() == container::Kind::text ? Bytes(value->as_text())
                                                                    : Bytes();
}

// OpenID Connect Core 1.0 §3.1.3.6: the left half of the hash that the algorithm has.
std::string half_hash(jose::Algorithm algorithm, Bytes text) {
  switch (jose::hash_bytes(algorithm)) {
    case 32: return encode_base64url(crypto::sha256(text).bytes().substr(0, 16));
    case 48: return encode_base64url(crypto::sha384(text).bytes().substr(0, 24));
    default: return encode_base64url(crypto::sha512(text).bytes().substr(0, 32));
  }
}

// §3.1.3.7, points 4 and 5.
jose::Verified<void> check_party(const jose::Claims& claims, const std::string& client) {
  const bool is_named = claims.others.find("azp") != nullptr;
  if (!is_named && claims.audiences.size() > 1) {
    return jose::refuse(Reason::missing_claim, "azp, of a token for several audiences");
  }
  const Bytes party = text_of(claims.others, "azp");
  if (!is_named || party == client) return {};
  return jose::refuse(Reason::wrong_audience, "azp is " + jose::shown(party));
}

}  // namespace

jose::Verified<jose::Token> verify_id_token(Bytes text,
                                            const std::vector<jose::VerificationKey>& keys,
                                            const IdTokenRules& rules, Timestamp now) {
  const OidcOptions& options = rules.options;
  auto token = jose::verify_jwt(text, keys,
                                {.issuers = {options.issuer},
                                 .audiences = {options.client_id},
                                 .types = {"JWT"},
                                 .leeway = options.leeway},
                                now);
  if (!token) return token;
  const jose::Claims& claims = token->claims;
  if (!claims.issued_at) return jose::refuse(Reason::missing_claim, "iat");
  if (auto good = check_party(claims, options.client_id); !good) {
    return std::unexpected(good.error());
  }
  if (!equal_in_constant_time(text_of(claims.others, "nonce"), rules.nonce)) {
    return jose::refuse(Reason::wrong_audience, "its nonce is that of another login");
  }
  const bool has_hash = claims.others.find("at_hash") != nullptr;
  if (has_hash && !rules.access_token.empty() &&
      text_of(claims.others, "at_hash") != half_hash(token->header.algorithm, rules.access_token)) {
    return jose::refuse(Reason::wrong_audience, "at_hash is that of another access token");
  }
  return token;
}

auth::PrincipalFacts facts_of(const jose::Token& token, const std::string& roles_claim) {
  const jose::Claims& claims = token.claims;
  auth::PrincipalFacts facts;
  facts.id = claims.subject;
  facts.issuer = claims.issuer;
  for (const char* const name : {"name", "preferred_username", "email"}) {
    if (facts.name.empty()) facts.name = text_of(claims.others, name);
  }
  facts.method = auth::Method::session;
  facts.authenticated_at = claims.issued_at;
  if (const Value* const roles = claims.others.find(roles_claim); roles != nullptr) {
    if (roles->kind() == container::Kind::text) facts.roles = {roles->as_text()};
    if (const container::List* const list = roles->get_list(); list != nullptr) {
      for (const Value& role : *list) {
        if (role.kind() == container::Kind::text) facts.roles.push_back(role.as_text());
      }
    }
  }
  return facts;
}

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
