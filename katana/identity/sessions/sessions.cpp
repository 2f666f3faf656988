#include "katana/identity/sessions/sessions.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/identity/sessions/login_page.hpp"
#include "katana/identity/sessions/session_manager.hpp"

namespace katana::sessions {
namespace {

std::int64_t seconds_of(Duration duration) noexcept { return duration.ns / 1'000'000'000; }

Result<std::shared_ptr<detail::SessionManager>> make_manager(SessionOptions options) {
  auto manager = std::make_shared<detail::SessionManager>();
  manager->options = std::move(options);
  const SessionOptions& given = manager->options;
  SetCookie cookie = manager->cookie();
  cookie.value = "0";
  Reply trial;
  if (auto set = set_cookie(trial, cookie); !set) {
    return std::unexpected(set.error().within("sessions: cookie_name, secure and same_site"));
  }
  constexpr Duration second = seconds(1);
  if (given.idle_lifetime < second || given.absolute_lifetime < given.idle_lifetime) {
    return fail(Code::invalid_argument,
                "sessions: idle_lifetime is one second at least, and absolute_lifetime not less");
  }
  if (given.touch_after < second || given.touch_after > given.idle_lifetime) {
    return fail(Code::invalid_argument,
                "sessions: touch_after is one second at least, and at most idle_lifetime");
  }
  if (given.cookie_bytes_max > cookie_bytes_limit) {
    return fail(Code::invalid_argument,
                fmt::format("sessions: cookie_bytes_max is {}, and at most {} leave room for other "
                            "fields of a reply; keep sessions in a store",
                            given.cookie_bytes_max, cookie_bytes_limit));
  }
  manager->lifetimes = {seconds_of(given.idle_lifetime), seconds_of(given.absolute_lifetime)};
  manager->touch_after_s = seconds_of(given.touch_after);
  return manager;
}

}  // namespace

Result<Sessions> Sessions::in_store(SessionOptions options, std::shared_ptr<SessionStore> store) {
  auto manager = make_manager(std::move(options));
  if (!manager) return std::unexpected(manager.error());
  if (store == nullptr) {
    return fail(Code::invalid_argument, "sessions: in_store() wants a store, and got none");
  }
  (*manager)->store = std::move(store);
  return Sessions(*std::move(manager));
}

Result<Sessions> Sessions::in_cookies(SessionOptions options,
                                      std::span<const std::string> secrets) {
  auto manager = make_manager(std::move(options));
  if (!manager) return std::unexpected(manager.error());
  auto sealer = CookieSealer::make(secrets, (*manager)->options.cookie_name);
  if (!sealer) return std::unexpected(sealer.error());
  (*manager)->sealer = *std::move(sealer);
  return Sessions(*std::move(manager));
}

Middleware Sessions::middleware() const {
  Middleware middleware;
  middleware.phase = Phase::identity;
  middleware.function =
      katana::detail::make_middleware_function([manager = manager_](const RequestView& request) {
        const Bytes sent = cookie(request.head(), manager->options.cookie_name).value_or(Bytes());
        session::ClientSource* const source = request.source();
        return UserSession(manager, sent, source == nullptr ? nullptr : source->personal_mark());
      });
  middleware.amend = [](const RequestView&, session::Exchange& exchange, Reply& reply) {
    // The session is missing if earlier middleware has answered, or the request is not served.
    auto* const context = static_cast<katana::detail::RequestContext*>(exchange.kept());
    if (context == nullptr) return;
    const auto session = context->find<UserSession, UserSession>();
    if (session == nullptr) return;
    if (auto finished = session->finish(reply); !finished) {
      reply = problem(Error(Code::internal, "the session's cookie does not fit the reply")
                          .within(finished.error().describe()));
    }
  };
  return middleware;
}

Middleware Sessions::require_login() const {
  SecurityDocumentation words;
  words.schemes.push_back({.name = "session",
                           .kind = SecurityScheme::Kind::cookie,
                           .detail = manager_->options.cookie_name,
                           .description = "The session of a browser that has logged in."});
  return {.security = std::make_shared<const SecurityDocumentation>(std::move(words)),
          .function = katana::detail::make_middleware_function(session_principal),
          .phase = Phase::identity};
}

Middleware Sessions::require_login(LoginPage page) const {
  Middleware redirects = login_page(std::move(page));
  Middleware required = require_login();
  required.after = std::move(redirects.after);
  required.mistake = std::move(redirects.mistake);
  return required;
}

Task<Result<std::int64_t>> Sessions::end_all(std::string issuer, std::string principal) const {
  if (manager_->store == nullptr) {
    co_return fail(Code::unsupported,
                   "sessions that are cookies cannot be ended from here; keep them in a store");
  }
  co_return co_await manager_->store->remove_all(std::move(issuer), std::move(principal));
}

Task<std::expected<auth::Principal, Reply>> session_principal(FromContext<UserSession> session) {
  Result<std::optional<auth::Principal>> principal = co_await session->principal();
  if (!principal) co_return std::unexpected(problem(principal.error()));
  if (!*principal) {
    co_return std::unexpected(unauthenticated("Cookie", "Log in first."));
  }
  co_return **std::move(principal);
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
