#include "fullstack/login.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/audit.hpp"
#include "katana/auth.hpp"
#include "katana/http.hpp"
#include "katana/net.hpp"
#include "katana/oidc.hpp"
#include "katana/passwords.hpp"
#include "katana/registry.hpp"
#include "katana/sessions.hpp"

namespace katana::fullstack {
namespace {

using sessions::UserSession;

constexpr const char* login_path = "/login";
constexpr const char* provider_path = "/login/provider";
constexpr const char* account_path = "/account";
constexpr const char* logout_path = "/logout";
constexpr const char* device_cookie = "known-device";

Html page(Bytes title, const Html& content) {
  return html(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><link rel=\"stylesheet\" href=\"/login.css\"></head>"
      "<body><main><h1>{}</h1>{}</main></body></html>",
      title, title, content);
}

struct Credentials {
  std::string name;
  std::string password;
};
KATANA_DESCRIBE(Credentials, (name, length(1, 80)),
                (password, secret, length(1, passwords::password_bytes_max)))

// The objects for logging in by a password, shared by all reactors.
struct Doorkeeper {
  LoginSettings settings;
  std::unique_ptr<passwords::PasswordHasher> hasher;
  mutable passwords::LoginThrottle throttle;
  passwords::KnownDevices devices;
  audit::AuditLog* log = nullptr;  // null: no audit log

  Doorkeeper(const LoginSettings& of, passwords::KnownDevices known)
      : settings(of), throttle(of.throttle), devices(std::move(known)) {}

  const Account* find(Bytes name) const noexcept {
    const auto found = std::ranges::find(settings.accounts, name, &Account::name);
    return found == settings.accounts.end() ? nullptr : &*found;
  }
  // An event that cannot be recorded makes the request fail.
  Task<Result<void>> record(audit::AuditEvent event) const {
    if (log == nullptr) co_return Result<void>();
    co_return co_await log->record(event);
  }
};
using Door = std::shared_ptr<const Doorkeeper>;

Reply login_page(const LoginSettings& settings, Bytes token, unsigned status = 200,
                 Bytes said = "") {
  const std::string& issuer = settings.oidc.issuer;
  const Html form = html(
      R"(<form method="post" action="/login">{}<label>Name <input name="name" required)"
      R"( autocomplete="username"></label><label>Password <input name="password" type="password")"
      R"( required autocomplete="current-password"></label><button id="login">Log in</button>)"
      R"(</form>)",
      sessions::form_token_field(token));
  const Html provider =
      html(R"(<p><a id="provider" href="/login/provider">Log in at {}</a></p>)", issuer);
  const Html ways =
      html("<p id=\"said\" role=\"status\">{}</p>{}{}", said,
           settings.accounts.empty() ? Html() : form, issuer.empty() ? Html() : provider);
  Reply reply = Reply::html(page("Log in", ways).markup());
  reply.set_status(status);
  return reply;
}

// A visitor has a session for the token of the form.
Task<Result<Reply>> show_login(Door door, FromContext<UserSession> session) {
  const Result<std::string> token = co_await sessions::form_token(session);
  if (!token) co_return std::unexpected(token.error());
  co_return login_page(door->settings, *token);
}

// Guesses of strangers never make its user wait.
Result<void> remember_device(Reply& reply, const Door& door, const Request& request, Bytes name) {
  const std::string token = door->devices.token(name);
  SetCookie cookie;
  cookie.name = device_cookie;
  cookie.value = token;
  cookie.max_age = door->settings.throttle.known_for;
  cookie.secure = request.client().is_secure();
  return set_cookie(reply, cookie);
}

// Takes as long for an unknown name, and says the same of it.
Task<Result<Reply>> log_in(Door door, Request request, FormFields<Credentials> given,
                           FromContext<UserSession> session) {
  const Result<std::string> token = co_await sessions::form_token(session);
  if (!token) co_return std::unexpected(token.error());
  const auto client = request.client().address();
  const std::string address = client ? std::string(Bytes(client->to_text())) : "local";
  const Bytes known = cookie(request.view().head(), device_cookie).value_or("");
  const std::string device = door->devices.find(known, given->name);
  const Instant now = net::Reactor::current()->now();
  const Duration wait = door->throttle.begin(given->name, address, now, device);
  if (wait > Duration{}) {
    Reply reply = login_page(door->settings, *token, 429, "Too many attempts. Try again later.");
    reply.add_field("Retry-After", fmt::format("{}", 1 + wait.ns / 1'000'000'000));
    co_return reply;
  }
  const Account* const account = door->find(given->name);
  std::optional<std::string> stored;
  if (account != nullptr) stored = account->password;
  const auto verdict = co_await door->hasher->verify(stored, SecretText(given->password));
  if (!verdict) co_return std::unexpected(verdict.error());
  audit::AuditEvent event;
  event.action = "login";
  event.actor = given->name;
  event.outcome = verdict->right ? audit::Outcome::succeeded : audit::Outcome::denied;
  event.address = address;
  const Result<void> recorded = co_await door->record(std::move(event));
  if (!recorded) co_return std::unexpected(recorded.error());
  if (!verdict->right) {
    Reply reply = login_page(door->settings, *token, 401, "Name or password is wrong.");
    reply.add_field("WWW-Authenticate", "Cookie");  // as session_principal has it
    co_return reply;
  }
  door->throttle.succeeded(given->name, address, device);
  auth::PrincipalFacts facts;
  facts.id = account->name;
  facts.issuer = "fullstack";
  facts.method = auth::Method::session;
  facts.roles = account->roles;
  const Result<void> kept = co_await session->log_in(facts);
  if (!kept) co_return std::unexpected(kept.error());
  Reply reply = Reply::redirect(account_path);
  const Result<void> remembered = remember_device(reply, door, request, given->name);
  if (!remembered) co_return std::unexpected(remembered.error());
  co_return reply;
}

Task<Result<Reply>> account_page(FromContext<auth::Principal> who,
                                 FromContext<UserSession> session) {
  const Result<std::string> token = co_await sessions::form_token(session);
  if (!token) co_return std::unexpected(token.error());
  std::string roles;
  for (const std::string& role : who->facts().roles) roles += (roles.empty() ? "" : ", ") + role;
  const Html content =
      html(R"(<p id="user">{}</p><p>Roles: <span id="roles">{}</span></p>)"
           R"(<form method="post" action="/logout">{}<button id="logout">Log out</button></form>)",
           who->name(), roles.empty() ? "none" : roles, sessions::form_token_field(*token));
  co_return Reply::html(page("Account", content).markup());
}

Task<Result<Reply>> log_out(Door door, FromContext<UserSession> session) {
  const auto who = co_await session->principal();
  if (!who) co_return std::unexpected(who.error());
  audit::AuditEvent event;
  event.action = "logout";
  if (*who) event.actor = (*who)->id();
  const Result<void> recorded = co_await door->record(std::move(event));
  if (!recorded) co_return std::unexpected(recorded.error());
  const Result<void> ended = co_await session->end();
  if (!ended) co_return std::unexpected(ended.error());
  co_return Reply::redirect(login_path);
}

std::optional<Reply> require_editor(const RequestView& request, FromContext<auth::Principal> who) {
  static const auth::Policy editor = auth::role("editor");
  const bool reads =
      request.method() == http::Method::get || request.method() == http::Method::head;
  if (reads || editor.allows(*who)) return std::nullopt;
  return auth::forbidden(*who, editor);
}

Result<Door> make_door(const LoginSettings& settings, const registry::Services& services) {
  auto devices = passwords::KnownDevices::make();
  if (!devices) return std::unexpected(devices.error());
  auto door = std::make_shared<Doorkeeper>(settings, *std::move(devices));
  for (const Account& account : settings.accounts) {
    if (passwords::PasswordForm::parse(account.password)) continue;
    return fail(Code::invalid_argument,
                fmt::format("login.accounts: the password of '{}' is no hash of argon2id; "
                            "`katana password` makes one",
                            account.name));
  }
  auto hasher = passwords::PasswordHasher::make(settings.passwords);
  if (!hasher) return std::unexpected(hasher.error().within("login.passwords"));
  door->hasher = *std::move(hasher);
  door->log = services.find<audit::AuditLog>();
  return door;
}

}  // namespace

Result<void> add_login(Router& router, const registry::Services& services,
                       const LoginSettings& settings, const client::HttpClientOptions& client) {
  const Result<Door> door = make_door(settings, services);
  if (!door) return std::unexpected(door.error());

  Group forms = router.group("");
  forms.use(sessions::require_form_token);
  if (settings.oidc.issuer.empty()) {
    forms.post(logout_path, [door = *door](FromContext<UserSession> session) {
      return log_out(door, std::move(session));
    });
  } else {
    oidc::OidcOptions how = settings.oidc;
    how.login_path = provider_path;
    how.logout_path = logout_path;
    how.after_login = account_path;
    how.after_logout = login_path;
    auto http = client::HttpClient::make(client);
    if (!http) return std::unexpected(http.error());
    const auto login = oidc::OidcLogin::make(std::move(how), *std::move(http));
    if (!login) return std::unexpected(login.error().within("login.oidc"));
    login->add_to(forms);
  }
  forms.get(login_path, [door = *door](FromContext<UserSession> session) {
    return show_login(door, std::move(session));
  });
  forms.post(login_path, [door = *door](Request request, FormFields<Credentials> given,
                                        FromContext<UserSession> session) {
    return log_in(door, std::move(request), std::move(given), std::move(session));
  });
  router.get("/login.css", [] {
    return Reply(
        200, "text/css; charset=utf-8",
        Literal("body{font:1rem/1.5 system-ui,sans-serif;margin:3rem auto;max-width:24rem;"
                "padding:0 1rem;color-scheme:light dark}label{display:block;margin:.5rem 0}"
                "input{display:block;width:100%;font:inherit}button{font:inherit;margin:"
                ".5rem 0}"));
  });
  Group account = router.group(account_path);
  account.use(sessions::session_principal);
  account.get("", account_page);
  return {};
}

void require_login(Group& group, const sessions::Sessions& sessions) {
  static const auto decides =
      std::make_shared<const SecurityDocumentation>(SecurityDocumentation{.decides = true});
  group.use(sessions.require_login()).use({.security = decides}).use(require_editor);
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
