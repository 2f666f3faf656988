#include "katana/identity/auth/optional.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/http/handlers/request_context.hpp"

namespace katana::auth {
namespace {

using katana::detail::RequestContext;
using Found = std::optional<Principal>;

class OptionalFunction final : public katana::detail::MiddlewareFunction {
 public:
  explicit OptionalFunction(std::vector<std::shared_ptr<const Authenticator>> authenticators)
      : MiddlewareFunction(false, registry::type_info_of<Found>(), {}),
        authenticators_(std::move(authenticators)) {}

  Progress run(const katana::detail::Call& call, RequestContext& context) const override {
    // A reply to a stranger is for strangers alone: with a token it may differ.
    call.exchange.personalise(session::Personal::principal);
    for (const auto& each : authenticators_) {
      Attempt attempt = each->attempt(call.request, call.exchange);
      if (attempt.verdict) return take(context, *std::move(attempt.verdict));
      if (attempt.task) return await(call, context, *std::move(attempt.task));
    }
    context.provide<Found>(Found());
    return Progress::goes_on;
  }

 private:
  static Progress take(RequestContext& context, Verdict verdict) {
    if (verdict) {
      context.provide<Found>(Found(*std::move(verdict)));
      return Progress::goes_on;
    }
    context.answer = std::move(verdict.error());
    return Progress::answered;
  }

  static Task<std::expected<Found, Reply>> found_by(Task<Verdict> task) {
    Verdict verdict = co_await std::move(task);
    if (!verdict) co_return std::unexpected(std::move(verdict.error()));
    co_return Found(*std::move(verdict));
  }

  static Progress await(const katana::detail::Call& call, RequestContext& context,
                        Task<Verdict> verdict) {
    using Answer = std::expected<Found, Reply>;
    const DeadlineScope time(call.exchange.handler_due());
    Task<Answer> task = found_by(std::move(verdict));
    if (task.start()) {
      return katana::detail::take_result_of<Found>(context, task) ? Progress::goes_on
                                                                  : Progress::answered;
    }
    using Pending = katana::detail::PendingFunction<Found, Answer>;
    call.exchange.hold(std::make_unique<Pending>(call.exchange, std::move(task)));
    call.exchange.defer_request();
    return Progress::waits;
  }

  const std::vector<std::shared_ptr<const Authenticator>> authenticators_;
};

}  // namespace

Middleware optional(const Authentication& how) {
  Middleware made = how;
  SecurityDocumentation words = *made.security;
  words.schemes.insert(words.schemes.begin(), SecurityScheme{});  // without a name: none is needed
  made.security = std::make_shared<const SecurityDocumentation>(std::move(words));
  made.function = std::make_shared<const OptionalFunction>(how.authenticators());
  return made;
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
