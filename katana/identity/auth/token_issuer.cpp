#include "katana/identity/auth/token_issuer.hpp"

#include <utility>
#include <vector>

#include "katana/base/system/misuse.hpp"
#include "katana/base/system/propagate.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/jose/jwt.hpp"

namespace katana::auth {
namespace {

constexpr std::size_t random_secret_bytes = 32;

void set_list(container::Object& to, Bytes name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  container::List list;
  for (const std::string& item : items) list.emplace_back(item);
  to.set(name, std::move(list));
}

}  // namespace

TokenIssuer::TokenIssuer(TokenIssuerOptions options, jose::SigningKey key)
    : options_(std::move(options)), key_(std::move(key)) {}

Result<std::unique_ptr<TokenIssuer>> TokenIssuer::make(TokenIssuerOptions options) {
  if (options.issuer.empty()) {
    return fail(Code::invalid_argument, "TokenIssuerOptions::issuer is empty: name the program");
  }
  std::string secret = options.secret ? *options.secret : random_octets(random_secret_bytes);
  if (options.secret) erase_secret(*options.secret);
  options.secret.reset();
  auto made = jose::SigningKey::from_secret(jose::Algorithm::hs256, secret);
  erase_secret(secret);
  KATANA_TRY(auto key, std::move(made));
  return std::unique_ptr<TokenIssuer>(new TokenIssuer(std::move(options), std::move(key)));
}

Result<IssuedToken> TokenIssuer::issue(const PrincipalFacts& who) const {
  KATANA_REQUIRE(!who.id.empty());
  const Timestamp now = current_time();
  jose::Claims claims;
  claims.issuer = options_.issuer;
  claims.subject = who.id;
  claims.issued_at = now;
  claims.expires_at = now + std::chrono::microseconds(options_.lifetime.ns / 1000);
  if (!who.name.empty()) claims.others.set("name", who.name);
  set_list(claims.others, "roles", who.roles);
  set_list(claims.others, "scope", who.scopes);
  KATANA_TRY(std::string token, jose::sign_jwt(key_, claims));
  return IssuedToken{std::move(token), *claims.expires_at};
}

Authentication TokenIssuer::bearer() const {
  BearerOptions options;
  options.keys = std::make_shared<TokenKeys>(TokenKeys::Set{key_.verification_key()});
  options.rules.issuers = {options_.issuer};
  options.scheme = options_.scheme;
  return auth::bearer(std::move(options));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
