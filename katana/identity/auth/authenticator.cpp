#include "katana/identity/auth/authenticator.hpp"

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/system/check.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::auth {
namespace {

using katana::detail::RequestContext;
using Authenticators = std::vector<std::shared_ptr<const Authenticator>>;

class AuthenticationFunction final : public katana::detail::MiddlewareFunction {
 public:
  explicit AuthenticationFunction(Authenticators authenticators)
      : MiddlewareFunction(false, registry::type_info_of<Principal>(), {}),
        authenticators_(std::move(authenticators)) {}

  Progress run(const katana::detail::Call& call, RequestContext& context) const override {
    // What comes of it, a refusal as well, is for this client.
    call.exchange.personalise(session::Personal::principal);
    for (const auto& each : authenticators_) {
      Attempt attempt = each->attempt(call.request, call.exchange);
      if (attempt.verdict) return take(context, *std::move(attempt.verdict));
      if (attempt.task) return await(call, context, *std::move(attempt.task));
    }
    context.answer = unidentified();
    return Progress::answered;
  }

 private:
  static Progress take(RequestContext& context, Verdict verdict) {
    if (verdict) {
      context.provide<Principal>(*std::move(verdict));
      return Progress::goes_on;
    }
    context.answer = std::move(verdict.error());
    return Progress::answered;
  }

  static Progress await(const katana::detail::Call& call, RequestContext& context,
                        Task<Verdict> task) {
    using Pending = katana::detail::PendingFunction<Principal, Verdict>;
    const DeadlineScope time(call.exchange.handler_due());
    if (task.start()) return take(context, task.result());
    call.exchange.hold(std::make_unique<Pending>(call.exchange, std::move(task)));
    call.exchange.defer_request();
    return Progress::waits;
  }

  Reply unidentified() const {
    Reply reply = problem(problem_types::login_needed, "Credentials are needed.");
    for (const auto& each : authenticators_) {
      if (const std::string challenge = each->challenge(); !challenge.empty()) {
        reply.add_field("WWW-Authenticate", challenge);
      }
    }
    return reply;
  }

  const Authenticators authenticators_;
};

}  // namespace

Authentication::operator Middleware() const {
  SecurityDocumentation words;
  std::string mistake;
  for (const auto& each : authenticators_) {
    words.schemes.push_back(each->scheme());
    if (mistake.empty()) mistake = each->mistake();
  }
  return {.mistake = std::move(mistake),
          .security = std::make_shared<const SecurityDocumentation>(std::move(words)),
          .function = std::make_shared<const AuthenticationFunction>(authenticators_),
          .phase = Phase::identity};
}

Authentication first_of(std::vector<Authentication> all) {
  KATANA_REQUIRE(!all.empty());
  Authentication made;
  for (const Authentication& each : all) {
    made.authenticators_.insert(made.authenticators_.end(), each.authenticators_.begin(),
                                each.authenticators_.end());
  }
  return made;
}

std::expected<std::optional<Bytes>, Reply> only_field(const RequestView& request, Bytes name) {
  const http::Head& head = request.head();
  std::optional<Bytes> found;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!http::equals_ignoring_case(head.name(index), name)) continue;
    if (found) {
      std::string words = "The request has more than one field ";
      return std::unexpected(
          problem(problem_types::malformed_credentials, words.append(name).append(".")));
    }
    found = head.value(index);
  }
  return found;
}

std::optional<Bytes> credentials_of(Bytes authorization, Bytes scheme) noexcept {
  const std::size_t end = std::min(authorization.find(' '), authorization.size());
  if (!http::equals_ignoring_case(authorization.substr(0, end), scheme)) return std::nullopt;
  authorization.remove_prefix(end);
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

std::string quoted_parameter(Bytes text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
