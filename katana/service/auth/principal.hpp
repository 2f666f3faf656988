// Principal: who asks, as whoever authenticated the request found out. A middleware provides it,
// and handlers behind it take FromContext<Principal>.
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

#include "katana/base/bytes.hpp"
#include "katana/base/timestamp.hpp"
#include "katana/container/value.hpp"

namespace katana::auth {

// By what the request was authenticated.
enum class Method : std::uint8_t { token, api_key, basic, certificate, session };

Bytes name_of(Method method) noexcept;

struct PrincipalFacts {
  std::string id = {};      // `sub` of a token, the user of a password, the name of an API key
  std::string issuer = {};  // `iss` of a token, or the name of the authenticator
  std::string name = {};    // for people; empty: the id
  Method method = Method::token;
  std::vector<std::string> roles = {};
  std::vector<std::string> scopes = {};
  std::optional<Timestamp> authenticated_at = {};
  std::optional<Timestamp> expires_at = {};
  container::Object claims = {};  // whatever else the token or the provider says
};

class Principal {
 public:
  // REQUIRES an id.
  explicit Principal(PrincipalFacts facts);

  const PrincipalFacts& facts() const noexcept { return *facts_; }
  const std::string& id() const noexcept { return facts_->id; }
  const std::string& issuer() const noexcept { return facts_->issuer; }
  const std::string& name() const noexcept { return facts_->name; }
  Method method() const noexcept { return facts_->method; }
  bool has_role(Bytes role) const noexcept;
  bool has_scope(Bytes scope) const noexcept;
  // Null: nothing says it.
  const container::Value* claim(Bytes name) const noexcept { return facts_->claims.find(name); }

  // The same person by the same issuer, however they were authenticated.
  friend bool operator==(const Principal& a, const Principal& b) noexcept {
    return a.id() == b.id() && a.issuer() == b.issuer();
  }

 private:
  std::shared_ptr<const PrincipalFacts> facts_;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
