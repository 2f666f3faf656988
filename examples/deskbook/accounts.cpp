#include "katana/net.hpp"
#include "katana/optional_auth.hpp"
#include "katana/passwords.hpp"
#include "katana/sessions.hpp"
#include "katana/token_issuer.hpp"
#include "parts.hpp"

namespace deskbook {

using passwords::LoginThrottle, passwords::PasswordHasher;
using sessions::UserSession;

struct NewPerson {
  std::string email, name, password;
  Role role = Role::member;
};
KATANA_DESCRIBE(NewPerson, (email, format::email, length(3, 254)), (name, length(1, 80)),
                (password, secret, length(8, 200)), (role, defaulted))
struct Credentials {
  std::string email, password;
};
KATANA_DESCRIBE(Credentials, (email, required), (password, required, secret))
struct Account {
  std::int64_t id = 0;
  std::string name, password;
  Role role = Role::member;
};
KATANA_DESCRIBE(Account, id, name, password, role)
struct LoginQuery {
  std::string return_to = "/";
};
KATANA_DESCRIBE(LoginQuery, return_to)
namespace {

constexpr const char* issuer = "deskbook";

// Checks passwords and signs tokens, for all requests.
struct Door {
  std::unique_ptr<PasswordHasher> hasher;
  std::unique_ptr<auth::TokenIssuer> tokens;
  LoginThrottle throttle;
};

Result<std::unique_ptr<Door>> make_door(config::Config<Settings>& config) {
  auto door = std::make_unique<Door>();
  KATANA_TRY(door->hasher, PasswordHasher::make({}));
  KATANA_TRY(door->tokens, auth::TokenIssuer::make({.secret = config.get()->token_key,
                                                    .issuer = issuer,
                                                    .lifetime = seconds(12 * 3600),
                                                    .scheme = "Token"}));
  return door;
}

// An address as it is stored: its spellings are one account, also for the throttle.
std::string folded(std::string email) {
  for (char& c : email) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return email;
}

// The account, if the password is right. It takes as long for an address that has none.
Task<Answer<Account>> checked(Credentials given, Request request, Inject<Door> door, Db db) {
  const auto peer = request.client().address();
  const std::string address = peer ? std::string(Bytes(peer->to_text())) : "local";
  const std::string email = folded(given.email);
  const Instant now = net::Reactor::current()->now();
  if (const Duration wait = door->throttle.begin(email, address, now); wait > Duration{}) {
    co_return std::unexpected(problem(429, "Too many attempts. Try again later.")
                                  .with("Retry-After", std::to_string(1 + wait.count_ms() / 1000)));
  }
  KATANA_CO_TRY(auto account,
                co_await db->query_one<Account>("SELECT id, name, password, role FROM people "
                                                "WHERE email = $1",
                                                email));
  std::optional<std::string> stored;
  if (account) stored = account->password;
  KATANA_CO_TRY(const auto verdict,
                co_await door->hasher->verify(stored, SecretText(given.password)));
  if (!verdict.right) {
    co_return std::unexpected(unauthenticated("Cookie", "Address or password is wrong."));
  }
  door->throttle.succeeded(email, address);
  co_return *std::move(account);
}

auth::PrincipalFacts facts_of(const Account& account) {
  return {.id = std::to_string(account.id),
          .issuer = issuer,
          .name = account.name,
          .roles = {std::string(enumerator_name(account.role))}};
}

Html login_page(Query<LoginQuery> query) {
  return html(
      R"(<!doctype html><title>Deskbook</title><h1>Sign in</h1>
<form method="post" action="/login"><input type="hidden" name="return_to" value="{}">
<label>E-mail <input name="email" required autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form>)",
      query->return_to);
}

Task<Answer<Reply>> log_in(FormFields<Credentials> given, FormFields<LoginQuery> query,
                           Request request, FromContext<UserSession> session, Inject<Door> door,
                           Db db) {
  KATANA_CO_TRY(const Account account, co_await checked(*given, std::move(request), door, db));
  const auth::PrincipalFacts facts = facts_of(account);
  KATANA_CO_TRY_DONE(co_await session->log_in(facts));
  co_return Reply::redirect(sessions::safe_return_path(query->return_to));
}

Task<Result<Reply>> log_out(FromContext<UserSession> session) {
  KATANA_CO_TRY_DONE(co_await session->end());
  co_return Reply::redirect("/login");
}

// A program gets a token by the same password.
Task<Answer<Json<auth::IssuedToken>>> issue_token(Json<Credentials> given, Request request,
                                                  Inject<Door> door, Db db) {
  KATANA_CO_TRY(const Account account, co_await checked(*given, std::move(request), door, db));
  KATANA_CO_TRY(auto issued, door->tokens->issue(facts_of(account)));
  co_return Json(std::move(issued), 201);
}

Task<Answer<Reply>> add_person(Json<NewPerson> given, Inject<Door> door, Db db) {
  KATANA_CO_TRY(const std::string hash, co_await door->hasher->hash(SecretText(given->password)));
  KATANA_CO_TRY_DONE(co_await db->execute(
      "INSERT INTO people (email, name, role, password) VALUES ($1, $2, $3, $4)",
      folded(given->email), given->name, given->role, hash));
  co_return Reply(201);
}

// The session of a browser, or the token of a program.
Task<Answer<auth::Principal>> signed_in(FromContext<std::optional<auth::Principal>> by_token,
                                        FromContext<UserSession> session) {
  if (by_token->has_value()) co_return **by_token;
  KATANA_CO_TRY(const auto by_session, co_await session->principal());
  if (by_session) co_return *by_session;
  co_return std::unexpected(unauthenticated("Token", "Sign in, or send a token."));
}

}  // namespace

void add_accounts(registry::Registry& registry) { registry.singleton<Door>(make_door); }

Result<Groups> make_groups(const registry::Services& services, Router& router) {
  Groups groups{router.group("").anonymous(), router.group(""), router.group("/api"),
                router.group("/api")};
  groups.pages.use(services.get<sessions::Sessions>().require_login({.path = "/login"}));
  groups.pages.use(auth::require(auth::authenticated()));
  for (Group* const each : {&groups.api, &groups.administration}) {
    each->use(auth::optional(services.get<Door>().tokens->bearer())).use(signed_in);
  }
  groups.api.use(auth::require(auth::authenticated()));
  groups.administration.use(auth::require(auth::role("administrator")));
  return groups;
}

void add_account_routes(Groups& groups) {
  groups.open.get("/login", login_page).post("/login", log_in).post("/logout", log_out);
  groups.open.post("/api/tokens", issue_token);
  groups.administration.post("/people", add_person);
}

Task<Result<void>> make_first_account(const registry::Services& services) {
  const FirstAccount first = services.get<config::Config<Settings>>().get()->administrator;
  if (first.email.empty()) co_return Result<void>();
  // katana: full scan is fine (it looks for any row)
  KATANA_CO_TRY_DONE(co_await services.get<database::Database>().execute(
      "INSERT INTO people (email, name, role, password) SELECT $1, $1, 'administrator', $2 "
      "WHERE NOT EXISTS (SELECT 1 FROM people) ON CONFLICT DO NOTHING",
      folded(first.email), first.password));
  co_return Result<void>();
}

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
