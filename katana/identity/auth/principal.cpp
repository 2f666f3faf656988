#include "katana/identity/auth/principal.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::auth {
namespace {

bool has(const std::vector<std::string>& names, Bytes name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::shared_ptr<const PrincipalFacts> checked(PrincipalFacts facts) {
  KATANA_REQUIRE(!facts.id.empty());
  if (facts.name.empty()) facts.name = facts.id;
  return std::make_shared<const PrincipalFacts>(std::move(facts));
}

}  // namespace

Bytes name_of(Method method) noexcept {
  constexpr std::array<Bytes, 5> names = {"token", "api_key", "basic", "certificate", "session"};
  return names.at(static_cast<std::size_t>(method));
}

Principal::Principal(PrincipalFacts facts) : facts_(checked(std::move(facts))) {}

bool Principal::has_role(Bytes role) const noexcept { return has(facts_->roles, role); }
bool Principal::has_scope(Bytes scope) const noexcept { return has(facts_->scopes, scope); }

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
