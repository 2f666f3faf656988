// Principal: the identity of the client, from the authentication of the request. A middleware
// provides it, and handlers behind it take FromContext<Principal>.
//
//   api.use(auth::require(auth::role("editor")));
//   api.get("/me", [](FromContext<auth::Principal> who) { return Json(Profile{who->name()}); });
//
// Owns       a share of the facts: a copy of a Principal costs a counter.
// Thread     any; the facts do not change.
// Allocates  once, when it is made.
// Fails      never.
// Invariant  an id is unique within its issuer, and is never empty.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/data/container/value.hpp"
#include "katana/http/session/personal.hpp"

namespace katana::auth {

// The way in which a request was authenticated.
enum class Method : std::uint8_t { token, api_key, basic, certificate, session };

// The name for log records and claims: "token", "api_key", ….
Bytes name_of(Method method) noexcept;

// The known facts about the client.
struct PrincipalFacts {
  std::string id = {};      // `sub` of a token, the user of a password, the name of an API key
  std::string issuer = {};  // `iss` of a token, or the name of the authenticator
  std::string name = {};    // for people; empty: the id
  // The way in which the request was authenticated.
  Method method = Method::token;
  // The scheme of `Authorization` in front of the token. A challenge about scopes names it.
  std::string scheme = "Bearer";
  // The roles that the issuer gave.
  std::vector<std::string> roles = {};
  // The scopes of the credentials.
  std::vector<std::string> scopes = {};
  // The time at which the user authenticated; nothing: not known.
  std::optional<Timestamp> authenticated_at = {};
  // The time at which the credentials end; nothing: not known.
  std::optional<Timestamp> expires_at = {};
  container::Object claims = {};  // all other claims of the token or the provider
};

class Principal {
 public:
  // Makes a principal. REQUIRES an id.
  explicit Principal(PrincipalFacts facts);

  // All facts.
  const PrincipalFacts& facts() const noexcept { return *facts_; }
  // The id, unique at the issuer and never empty.
  const std::string& id() const noexcept { return facts_->id; }
  // The issuer; empty: none.
  const std::string& issuer() const noexcept { return facts_->issuer; }
  // The name for people; never empty.
  const std::string& name() const noexcept { return facts_->name; }
  // The way in which the request was authenticated.
  Method method() const noexcept { return facts_->method; }
  // True if it has the role, which is case-sensitive.
  bool has_role(Bytes role) const noexcept;
  // True if it has the scope, which is case-sensitive.
  bool has_scope(Bytes scope) const noexcept;
  // The value of a claim; null: there is no such claim.
  const container::Value* claim(Bytes name) const noexcept { return facts_->claims.find(name); }

  // Compares the id and the issuer, and not the way of authentication.
  friend bool operator==(const Principal& a, const Principal& b) noexcept {
    return a.id() == b.id() && a.issuer() == b.issuer();
  }

 private:
  std::shared_ptr<const PrincipalFacts> facts_;
};

}  // namespace katana::auth

template <>
inline constexpr katana::session::Personal katana::personal_value<katana::auth::Principal> =
    katana::session::Personal::principal;

// SPDX-License-Identifier: Apache-2.0
