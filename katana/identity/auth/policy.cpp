#include "katana/identity/auth/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {
namespace {

std::string joined(const std::vector<Policy>& all, Bytes word) {
  std::string words;
  for (const Policy& each : all) {
    if (!words.empty()) words.append(" ").append(word).append(" ");
    words += each.words();
  }
  return all.size() == 1 ? words : "(" + words + ")";
}

// RFC 6749 §3.3: the challenge to a token that lacks the scope names it.
bool is_scope(Bytes name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
  });
}

// The first mistake of the policies.
std::string mistake_of(const std::vector<Policy>& all) {
  const auto found =
      std::ranges::find_if(all, [](const Policy& each) { return !each.mistake().empty(); });
  return found != all.end() ? found->mistake() : std::string();
}

}  // namespace

Policy::Policy(std::string words, std::function<bool(const Principal&)> test, std::string wrong)
    : Policy(Parts{std::move(words), std::move(test), {}, std::move(wrong)}) {}

Policy authenticated() {
  return {"authenticated", [](const Principal&) { return true; }};
}

Policy role(std::string name) {
  std::string words = fmt::format("role '{}'", name);
  return {std::move(words),
          [name = std::move(name)](const Principal& who) { return who.has_role(name); }};
}

Policy scope(std::string name) {
  std::string words = fmt::format("scope '{}'", name);
  std::string mistake;
  if (!is_scope(name)) {
    mistake = fmt::format(
        "scope {:?} is none: give visible ASCII characters without '\"', '\\' and spaces "
        "(RFC 6749 §3.3)",
        name);
  }
  return Policy(Policy::Parts{std::move(words),
                              [name](const Principal& who) { return who.has_scope(name); },
                              {name},
                              std::move(mistake)});
}

Policy claim(std::string name, container::Value value) {
  std::string words = fmt::format("claim '{}'", name);
  return {std::move(words),
          [name = std::move(name), value = std::move(value)](const Principal& who) {
            const container::Value* const found = who.claim(name);
            return found != nullptr && *found == value;
          }};
}

Policy all_of(std::vector<Policy> all) {
  KATANA_REQUIRE(!all.empty());
  Policy::Parts parts = {joined(all, "and"), {}, {}, mistake_of(all)};
  for (const Policy& each : all) {
    parts.scopes.insert(parts.scopes.end(), each.scopes().begin(), each.scopes().end());
  }
  parts.test = [all = std::move(all)](const Principal& who) {
    return std::ranges::all_of(all, [&](const Policy& each) { return each.allows(who); });
  };
  return Policy(std::move(parts));
}

Policy any_of(std::vector<Policy> all) {
  KATANA_REQUIRE(!all.empty());
  std::string words = joined(all, "or");
  std::string wrong = mistake_of(all);
  auto test = [all = std::move(all)](const Principal& who) {
    return std::ranges::any_of(all, [&](const Policy& each) { return each.allows(who); });
  };
  return {std::move(words), std::move(test), std::move(wrong)};
}

Policy not_(Policy policy) {
  std::string words = "not " + policy.words();
  std::string wrong = policy.mistake();
  auto test = [policy = std::move(policy)](const Principal& who) { return !policy.allows(who); };
  return {std::move(words), std::move(test), std::move(wrong)};
}

Reply forbidden(const Principal& who, const Policy& policy) {
  Reply reply = problem(problem_types::forbidden, "You are known, and not allowed to do this.");
  const bool lacks_scope = std::ranges::any_of(
      policy.scopes(), [&](const std::string& scope) { return !who.has_scope(scope); });
  if (who.method() == Method::token && lacks_scope) {
    std::string scopes;
    for (const std::string& each : policy.scopes()) {
      if (!scopes.empty()) scopes += ' ';
      scopes += each;
    }
    reply.add_field(
        "WWW-Authenticate",
        who.facts().scheme + " error=\"insufficient_scope\", scope=" + quoted_parameter(scopes));
  }
  return reply;
}

Middleware require(Policy policy) {
  SecurityDocumentation words = {.schemes = {}, .scopes = policy.scopes(), .decides = true};
  std::string mistake = policy.mistake();
  auto decide = [policy = std::move(policy)](FromContext<Principal> who) -> std::optional<Reply> {
    if (policy.allows(*who)) return std::nullopt;
    return forbidden(*who, policy);
  };
  return {.mistake = std::move(mistake),
          .security = std::make_shared<const SecurityDocumentation>(std::move(words)),
          .function = katana::detail::make_middleware_function(std::move(decide)),
          .phase = Phase::identity};
}

Reply detail::denied(Denial denial) {
  if (denial == Denial::not_found)
    return problem(problem_types::not_found, "There is no such resource.");
  return problem(problem_types::forbidden, "You are known, and not allowed to use this resource.");
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
