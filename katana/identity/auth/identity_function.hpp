// IdentityFunction: asks authenticators one after another, and provides the client's identity as a
// value: a Principal, or an optional one.
//
// Owns       a share of the authenticators.
// Thread     the reactor's; one object serves all reactors.
// Allocates  as the authenticators do; a lookup that waits is held by its exchange.
// Fails      with the reply of the authenticator that found credentials of its kind.
// Invariant  the first that finds credentials of its kind decides.
#pragma once

#include <expected>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth::detail {

template <class Value>
class IdentityFunction : public katana::detail::MiddlewareFunction {
 public:
  explicit IdentityFunction(std::vector<std::shared_ptr<const Authenticator>> authenticators)
      : MiddlewareFunction(false, registry::type_info_of<Value>(), {}),
        authenticators_(std::move(authenticators)) {}

  Progress run(const katana::detail::Call& call,
               katana::detail::RequestContext& context) const override {
    // Each reply is only for this client, even a refusal and one without credentials. The reply for
    // other credentials may differ.
    call.exchange.personalise(session::Personal::principal);
    for (const auto& each : authenticators_) {
      Attempt attempt = each->attempt(call.request, call.exchange);
      if (attempt.verdict) return take(context, *std::move(attempt.verdict));
      if (attempt.task) return await(call, context, as_value(*std::move(attempt.task)));
    }
    return without_credentials(context);
  }

 protected:
  const std::vector<std::shared_ptr<const Authenticator>>& authenticators() const noexcept {
    return authenticators_;
  }

 private:
  using Answer = std::expected<Value, Reply>;

  // Called when no authenticator found credentials of its kind.
  virtual Progress without_credentials(katana::detail::RequestContext& context) const = 0;

  static Progress take(katana::detail::RequestContext& context, Verdict verdict) {
    if (verdict) {
      context.provide<Value>(Value(*std::move(verdict)));
      return Progress::goes_on;
    }
    context.answer = std::move(verdict.error());
    return Progress::answered;
  }

  static Task<Answer> as_value(Task<Verdict> task) {
    if constexpr (std::is_same_v<Value, Principal>) {
      return task;
    } else {
      return converted(std::move(task));
    }
  }
  static Task<Answer> converted(Task<Verdict> task) {
    Verdict verdict = co_await std::move(task);
    if (!verdict) co_return std::unexpected(std::move(verdict.error()));
    co_return Value(*std::move(verdict));
  }

  static Progress await(const katana::detail::Call& call, katana::detail::RequestContext& context,
                        Task<Answer> task) {
    const DeadlineScope time(call.exchange.handler_due());
    if (task.start()) {
      return katana::detail::take_result_of<Value>(context, task) ? Progress::goes_on
                                                                  : Progress::answered;
    }
    using Pending = katana::detail::PendingFunction<Value, Answer>;
    call.exchange.hold(std::make_unique<Pending>(call.exchange, std::move(task)));
    call.exchange.defer_request();
    return Progress::waits;
  }

  const std::vector<std::shared_ptr<const Authenticator>> authenticators_;
};

}  // namespace katana::auth::detail

// SPDX-License-Identifier: Apache-2.0
