// Authenticator: one way to identify the client. Authentication: one or more of them, as middleware
// that provides a Principal.
//
//   api.use(auth::bearer({.keys = keys, .rules = {…}}));
//   api.use(auth::first_of({auth::bearer(…), auth::api_key(…)}));
//   api.get("/me", [](FromContext<auth::Principal> who) { return Json(Profile{who->name()}); });
//
// The first authenticator that finds credentials of its kind decides. Without any the answer is 401
// with the challenges of all of them (RFC 9110 §11.6.1). A reply to a request with a principal gets
// `Cache-Control: no-store`, unless the handler gave the field.
//
// Owns       Authentication a share of its authenticators.
// Thread     the reactor's; one object serves all reactors.
// Allocates  from the recycler: the principal in the context of the request. An authenticator may
//            allocate more.
// Fails      by the reply of the authenticator.
// Invariant  a handler behind it runs with a principal, or not at all.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/identity/auth/principal.hpp"

namespace katana::auth {

// A principal, or the reply that refuses the request.
using Verdict = std::expected<Principal, Reply>;

// The answer of an authenticator: nothing, if the request has no credentials of its kind; a
// verdict; or a task that returns one.
struct Attempt {
  // An immediate verdict.
  std::optional<Verdict> verdict = {};
  // A task that returns the verdict; it is cancelled with the request.
  std::optional<Task<Verdict>> task = {};

  // The answer for a request without credentials of this kind.
  static Attempt none() { return {}; }
  // The answer with an immediate verdict.
  static Attempt of(Verdict verdict) { return {.verdict = std::move(verdict)}; }
  // The answer with a verdict at the end of the task.
  static Attempt later(Task<Verdict> task) { return {.task = std::move(task)}; }
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Both arguments are borrowed for the call. A task must copy the parts of the request it needs.
  virtual Attempt attempt(const RequestView& request, session::Exchange& exchange) const = 0;
  // The challenge in `WWW-Authenticate` for requests without credentials; empty: none.
  virtual std::string challenge() const = 0;
  virtual SecurityScheme scheme() const = 0;
  // The mistake in its options, which Router::build() reports; empty: none.
  virtual std::string mistake() const { return {}; }
};

// One or more authenticators, in the order in which they are tried.
class Authentication {
 public:
  explicit Authentication(std::shared_ptr<const Authenticator> authenticator)
      : authenticators_{std::move(authenticator)} {}

  // Converts to middleware, for Group::use().
  operator Middleware() const;  // NOLINT: implicit on purpose
  // The authenticators in their order; at least one.
  const std::vector<std::shared_ptr<const Authenticator>>& authenticators() const noexcept {
    return authenticators_;
  }

 private:
  friend Authentication first_of(std::vector<Authentication> all);
  Authentication() = default;
  std::vector<std::shared_ptr<const Authenticator>> authenticators_;
};

// Joins several into one, in their order. REQUIRES at least one.
Authentication first_of(std::vector<Authentication> all);

// ---- for authenticators ----

// The value of the only header of that name; nothing: there is none. An error: there are two, and
// readers could disagree which one counts.
std::expected<std::optional<Bytes>, Reply> only_field(const RequestView& request, Bytes name);
// The credentials behind the scheme in Authorization (RFC 9110 §11.4); nothing: another scheme.
std::optional<Bytes> credentials_of(Bytes authorization, Bytes scheme) noexcept;
// The parameter of a challenge in quotes, with escaped quotes and backslashes.
std::string quoted_parameter(Bytes text);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
