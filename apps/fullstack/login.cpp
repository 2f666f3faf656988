#include "fullstack/login.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/service/html.hpp"
#include "katana/service/middleware/csrf.hpp"
#include "katana/service/middleware/security_headers.hpp"
#include "katana/service/oidc/oidc_login.hpp"
#include "katana/service/sessions/database/session_table.hpp"
#include "katana/service/sessions/form_token.hpp"
#include "katana/service/sessions/sessions.hpp"

namespace katana::fullstack {
namespace {

using sessions::UserSession;

constexpr const char* login_path = "/login";
constexpr const char* provider_path = "/login/provider";
constexpr const char* account_path = "/account";
constexpr const char* logout_path = "/logout";

Html page(Bytes title, const Html& content) {
  return html(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><link rel=\"stylesheet\" href=\"/login.css\"></head>"
      "<body><main><h1>{}</h1>{}</main></body></html>",
      title, title, content);
}

Reply login_page(const std::string& issuer) {
  const Html ways =
      issuer.empty()
          ? html("<p>No way to log in is configured.</p>")
          : html(R"(<p><a id="provider" href="/login/provider">Log in at {}</a></p>)", issuer);
  return Reply::html(page("Log in", ways).markup());
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

Task<Result<Reply>> log_out(FromContext<UserSession> session) {
  const Result<void> ended = co_await session->end();
  if (!ended) co_return std::unexpected(ended.error());
  co_return Reply::redirect(login_path);
}

std::optional<Reply> require_editor(const RequestView& request, FromContext<auth::Principal> who) {
  const bool reads =
      request.method() == http::Method::get || request.method() == http::Method::head;
  if (reads || who->has_role("editor")) return std::nullopt;
  return problem(403, "This is for users with the role editor.");
}

}  // namespace

Result<void> add_login(Router& router, const LoginSettings& settings, database::Database& database,
                       const client::HttpClientOptions& client) {
  sessions::SessionOptions options;
  options.secure = settings.secure;
  if (!settings.secure) options.cookie_name = "session";
  const auto sessions = sessions::Sessions::in_store(
      options, std::make_shared<sessions::DatabaseSessionStore>(database));
  if (!sessions) return std::unexpected(sessions.error().within("login"));
  auto own = csrf();
  if (!own) return std::unexpected(own.error());
  router.use(security_headers()).use(*std::move(own)).use(sessions->middleware());

  Group forms = router.group("");
  forms.use(sessions::require_form_token);
  if (settings.oidc.issuer.empty()) {
    forms.post(logout_path, log_out);
  } else {
    oidc::OidcOptions how = settings.oidc;
    how.secure = settings.secure;
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
  router.get(login_path, [issuer = settings.oidc.issuer] { return login_page(issuer); });
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

void require_login(Group& group) { group.use(sessions::session_principal).use(require_editor); }

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
