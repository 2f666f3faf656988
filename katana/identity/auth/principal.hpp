// Principal: the identity of the client, as the authentication of the request found it. A
// middleware provides it, and handlers behind it take FromContext<Principal>.
//
//   api.use(auth::require(auth::role("editor")));
//   api.get("/me", [](FromContext<auth::Principal> who) { return Json(Profile{who->name()}); });
//
// Owns       a share of what is known of them: a copy of a Principal costs a counter.
// Thread     any; what is known does not change.
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

// "token", "api_key", …, as records and claims name it.
Bytes name_of(Method method) noexcept;

// What is known of the client.
struct PrincipalFacts {
  std::string id = {};      // `sub` of a token, the user of a password, the name of an API key
  std::string issuer = {};  // `iss` of a token, or the name of the authenticator
  std::string name = {};    // for people; empty: the id
  // The way in which the request was authenticated.
  Method method = Method::token;
  // The scheme of `Authorization` by which a token came: what a challenge about its scopes names.
  std::string scheme = "Bearer";
  // Roles that the issuer gives.
  std::vector<std::string> roles = {};
  // Scopes of the credentials.
  std::vector<std::string> scopes = {};
  // When the user authenticated, as far as that is known.
  std::optional<Timestamp> authenticated_at = {};
  // When the credentials end; nothing: not known.
  std::optional<Timestamp> expires_at = {};
  container::Object claims = {};  // whatever else the token or the provider says
};

class Principal {
 public:
  // REQUIRES an id.
  explicit Principal(PrincipalFacts facts);

  // All facts.
  const PrincipalFacts& facts() const noexcept { return *facts_; }
  // Unique at the issuer; never empty.
  const std::string& id() const noexcept { return facts_->id; }
  // The issuer; empty: none.
  const std::string& issuer() const noexcept { return facts_->issuer; }
  // For people; never empty.
  const std::string& name() const noexcept { return facts_->name; }
  // The way in which the request was authenticated.
  Method method() const noexcept { return facts_->method; }
  // Compares exactly, with case.
  bool has_role(Bytes role) const noexcept;
  // Compares exactly, with case.
  bool has_scope(Bytes scope) const noexcept;
  // Null: there is no such claim.
  const container::Value* claim(Bytes name) const noexcept { return facts_->claims.find(name); }

  // The same id at the same issuer, however authenticated.
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
