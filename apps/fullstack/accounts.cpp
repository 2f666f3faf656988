#include "fullstack/accounts.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "katana/core/reactor.hpp"
#include "katana/service/html.hpp"
#include "katana/service/json.hpp"
#include "katana/service/middleware/security_headers.hpp"
#include "katana/service/sessions/form_token.hpp"

namespace katana::fullstack {

// What /me says of who has logged in.
struct Me {
  std::string name;
};
KATANA_DESCRIBE(Me, name)

namespace {

constexpr RouteOptions form_content{.content_bytes_max = 8 * 1024};

Task<Result<Reply>> show_form(FromContext<sessions::UserSession> session) {
  const Result<std::string> token = co_await sessions::form_token(session);
  if (!token) co_return std::unexpected(token.error());
  co_return html(
      R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Log in</title>)"
      R"(<h1>Log in</h1><form method="post" action="/login">{})"
      R"(<p><label>Name <input name="name" autocomplete="username" required></label>)"
      R"(<p><label>Password <input name="password" type="password")"
      R"( autocomplete="current-password" required></label><p><button>Log in</button></form>)",
      sessions::form_token_field(*token));
}

Reply too_many(Duration wait) {
  const std::int64_t wait_s = (wait.ns + 999'999'999) / 1'000'000'000;
  return problem(429, "Too many attempts: wait, and try again.")
      .with("Retry-After", fmt::format("{}", wait_s));
}

}  // namespace

Result<std::unique_ptr<Accounts>> Accounts::make(const AccountSettings& settings,
                                                 audit::AuditLog* log) {
  for (const auto& [name, hash] : settings.users) {
    if (!passwords::PasswordForm::parse(hash)) {
      return fail(Code::invalid_argument,
                  fmt::format("accounts.users: what stands for '{}' is no hash; `katana password` "
                              "makes one",
                              name));
    }
  }
  auto hasher = passwords::PasswordHasher::make(settings.passwords);
  if (!hasher) return std::unexpected(hasher.error().within("accounts"));
  return std::unique_ptr<Accounts>(new Accounts(settings, *std::move(hasher), log));
}

Task<Result<void>> Accounts::record(std::string action, std::string actor, audit::Outcome outcome) {
  if (log_ == nullptr) co_return {};
  audit::AuditEvent event;
  event.action = std::move(action);
  event.actor = std::move(actor);
  event.outcome = outcome;
  co_return co_await log_->record(event);
}

Task<Reply> Accounts::log_in(Login login, FromContext<sessions::UserSession> session) {
  const Duration wait = throttle_.begin(login.name, login.name, core::Reactor::current()->now());
  if (wait > Duration{}) co_return too_many(wait);
  std::optional<std::string> stored;
  if (const auto user = users_.find(login.name); user != users_.end()) stored = user->second;
  SecretText given(login.password);
  erase_secret(login.password);
  const Result<passwords::Verdict> verdict =
      co_await hasher_->verify(std::move(stored), std::move(given));
  if (!verdict) co_return problem(verdict.error());
  const auto outcome = verdict->right ? audit::Outcome::succeeded : audit::Outcome::denied;
  std::string actor = login.name;
  const Result<void> kept = co_await record("login", std::move(actor), outcome);
  if (!kept) co_return problem(kept.error());
  if (!verdict->right) {
    co_return unauthenticated("Cookie", "Name or password are wrong.");
  }
  throttle_.succeeded(login.name, login.name);
  auth::PrincipalFacts who;
  who.id = login.name;
  who.issuer = "fullstack";
  const Result<void> done = co_await session->log_in(who);
  if (!done) co_return problem(done.error());
  co_return Reply::redirect("/me");
}

Task<Reply> Accounts::log_out(FromContext<sessions::UserSession> session) {
  Result<std::optional<auth::Principal>> who = co_await session->principal();
  if (!who) co_return problem(who.error());
  if (*who) {
    std::string actor = (*who)->id();
    const Result<void> kept =
        co_await record("logout", std::move(actor), audit::Outcome::succeeded);
    if (!kept) co_return problem(kept.error());
  }
  const Result<void> done = co_await session->end();
  co_return done ? Reply::redirect("/login") : problem(done.error());
}

void Accounts::add_to(Router& router) {
  Group pages = router.group("");
  pages.use(security_headers());
  pages.get("/login", show_form);
  Group forms = pages.group("");
  forms.use(sessions::require_form_token);
  forms.post(
      "/login",
      [this](FormFields<Login> login, FromContext<sessions::UserSession> session) {
        return log_in(*login, std::move(session));
      },
      form_content);
  // By scripts, or by a form: the origin was looked at (http.csrf).
  pages.post("/logout", [this](FromContext<sessions::UserSession> session) {
    return log_out(std::move(session));
  });
  Group known = pages.group("");
  known.use(sessions::session_principal);
  known.get("/me", [](FromContext<auth::Principal> who) { return Json(Me{who->id()}); });
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
