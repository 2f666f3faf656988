// Accounts: who may use the API, if the configuration names anybody: names and hashes of passwords,
// a page to log in, and sessions.
//
//   accounts: {users: {ann: "$argon2id$v=19$m=19456,t=2,p=1$…"}}     # katana password
//   sessions: {store: memory}
//   http: {csrf: {enabled: true}}
//
// Owns       hasher and throttle.
// Borrows    the audit log, if there is one; it outlives the routes.
// Thread     any: its calls are coroutines of the reactor that makes them.
// Allocates  what hashes and sessions do.
// Fails      every call gives a reply: 401 for a wrong name or password, 429 with Retry-After for
//            too many of them, 503 when it cannot be told or recorded.
// Invariant  nothing tells whether a name is known: neither words nor time.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "katana/audit/audit_log.hpp"
#include "katana/base/described.hpp"
#include "katana/base/result.hpp"
#include "katana/base/secrets.hpp"
#include "katana/base/task.hpp"
#include "katana/passwords/login_throttle.hpp"
#include "katana/passwords/password_hasher.hpp"
#include "katana/service/forms/form_fields.hpp"
#include "katana/service/router.hpp"
#include "katana/service/sessions/sessions.hpp"

namespace katana::fullstack {

struct AccountSettings {
  std::map<std::string, std::string> users;
  passwords::PasswordOptions passwords;
  passwords::ThrottleOptions throttle;
};
KATANA_DESCRIBE(AccountSettings,
                (users, secret,
                 help("who may use the API, each with a hash as `katana password` prints it; "
                      "empty: everybody may")),
                passwords, throttle)

struct Login {
  std::string name;
  std::string password;
};
KATANA_DESCRIBE(Login, (name, required, length(1, 100)), (password, required, secret))

class Accounts {
 public:
  // `log`: null: logins are not recorded.
  static Result<std::unique_ptr<Accounts>> make(const AccountSettings& settings,
                                                audit::AuditLog* log);

  bool is_empty() const noexcept { return users_.empty(); }
  // GET and POST /login, POST /logout, GET /me.
  void add_to(Router& router);

 private:
  Accounts(const AccountSettings& settings, std::unique_ptr<passwords::PasswordHasher> hasher,
           audit::AuditLog* log)
      : users_(settings.users),
        hasher_(std::move(hasher)),
        throttle_(settings.throttle),
        log_(log) {}
  Task<Reply> log_in(Login login, FromContext<sessions::UserSession> session);
  Task<Reply> log_out(FromContext<sessions::UserSession> session);
  Task<Result<void>> record(std::string action, std::string actor, audit::Outcome outcome);

  const std::map<std::string, std::string> users_;
  std::unique_ptr<passwords::PasswordHasher> hasher_;
  passwords::LoginThrottle throttle_;
  audit::AuditLog* log_;
};

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
