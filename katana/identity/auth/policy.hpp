// Policy: decides by the Principal whether a request is allowed. require(): a policy as middleware.
//
//   api.use(auth::bearer(…));
//   Group admin = api.group("/admin");
//   admin.use(auth::require(auth::role("admin")));
//   api.use(auth::require(auth::any_of({auth::scope("orders:read"), auth::role("staff")})));
//
// To decide about one resource, once it is loaded:
//
//   Task<Reply> change(Path<int> id, FromContext<auth::Principal> who, Inject<Documents> all) {
//     const Document document = co_await all->get(*id);
//
//     auto allowed = co_await auth::authorize(*who, document, owns_document);
//     if (!allowed) co_return std::move(allowed.error());
//
// The authenticator answers requests without a principal with 401. A principal without the right
// gets 403 here, with the challenge of RFC 6750 §3.1 when a token lacks a scope.
//
// Owns       its parts; a copy shares them.
// Thread     any; a function that is given here must be safe to call on any thread.
// Allocates  when it is made. allows() never.
// Fails      403. A route without a Principal in front of require() is an error of Router::build().
// Invariant  a policy that throws answers 500, and the request goes no further.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/identity/auth/principal.hpp"

namespace katana::auth {

class Policy {
 public:
  // Makes a policy of a function. `words` are for messages: "works on Mondays". `wrong`: see
  // mistake().
  Policy(std::string words, std::function<bool(const Principal&)> test, std::string wrong = {});

  // True if the policy allows this principal.
  bool allows(const Principal& who) const { return parts_->test(who); }
  // The text for messages: "role 'admin' and not scope 'trial'".
  const std::string& words() const noexcept { return parts_->words; }
  // The scopes that it always requires.
  const std::vector<std::string>& scopes() const noexcept { return parts_->scopes; }
  // The mistake in a name, which Router::build() reports; empty: none.
  const std::string& mistake() const noexcept { return parts_->mistake; }

 private:
  friend Policy scope(std::string name);
  friend Policy all_of(std::vector<Policy> all);
  struct Parts {
    std::string words;
    std::function<bool(const Principal&)> test;
    std::vector<std::string> scopes;
    std::string mistake;
  };
  explicit Policy(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}

  std::shared_ptr<const Parts> parts_;
};

// Allows any request with a Principal.
Policy authenticated();
Policy role(std::string name);
// `name`: visible ASCII without quotes, backslashes and spaces (RFC 6749 §3.3, RFC 6750 §3). With
// another name Router::build() fails.
Policy scope(std::string name);
// Allows a principal with this claim and value.
Policy claim(std::string name, container::Value value);
// Join policies. They REQUIRE at least one.
Policy all_of(std::vector<Policy> all);
Policy any_of(std::vector<Policy> all);
Policy not_(Policy policy);

// Returns middleware for Group::use(), behind the authentication.
Middleware require(Policy policy);

// The reply to the principal `who` that the policy refuses.
Reply forbidden(const Principal& who, const Policy& policy);

// The reply to a principal that may not use a resource: 403, or 404 where its existence is a
// secret.
enum class Denial : std::uint8_t { forbidden, not_found };

namespace detail {

template <class F, class R>
concept JudgesResource = requires(F& judge, const Principal& who, const R& resource) {
  { judge(who, resource) } -> std::convertible_to<bool>;
} || requires(F& judge, const Principal& who, const R& resource) {
  { judge(who, resource) } -> std::same_as<Task<bool>>;
};
Reply denied(Denial denial);

}  // namespace detail

// Decides about one resource. `judge(who, resource)` returns a bool or a Task<bool>. Borrows the
// resource until the task ends.
template <class R, detail::JudgesResource<R> F>
Task<std::expected<void, Reply>> authorize(Principal who, const R& resource, F judge,
                                           Denial denial = Denial::forbidden) {
  bool is_allowed = false;
  if constexpr (std::same_as<decltype(judge(std::as_const(who), resource)), Task<bool>>) {
    Task<bool> task = judge(std::as_const(who), resource);
    is_allowed = co_await std::move(task);
  } else {
    is_allowed = judge(std::as_const(who), resource);
  }
  if (!is_allowed) co_return std::unexpected(detail::denied(denial));
  co_return std::expected<void, Reply>();
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
