// Login: who may use the API, where login.enabled is set: logged-in users read, and editors
// change.
//
//   GET  /login             a page with the ways to log in
//   POST /login             name and password of one of login.accounts
//   GET  /login/provider    to the OpenID provider, where one is configured
//   GET  /account           who has logged in, and the button to log out
//   POST /logout
//
// Owns       the threads that hash passwords, shared by the routes.
// Borrows    the services, which outlive the routes.
// Thread     as a router.
// Allocates  when routes are added, and a page for each request.
// Fails      add_login() with the Error of the option that is wrong.
// Invariant  sessions are those of the settings `sessions`. Guesses of passwords are throttled.
//            With an audit log (`audit`), a login that it does not have has not happened. No page
//            runs a script.
#pragma once

#include <string>
#include <vector>

#include "katana/auth.hpp"
#include "katana/base.hpp"
#include "katana/client.hpp"
#include "katana/http.hpp"
#include "katana/oidc.hpp"
#include "katana/passwords.hpp"
#include "katana/registry.hpp"

namespace katana::fullstack {

struct Account {
  std::string name;
  std::string password;  // as `katana password` prints it
  std::vector<std::string> roles;
};
KATANA_DESCRIBE(Account, (name, length(1, 80)), (password, secret), roles)

struct LoginSettings {
  bool enabled = false;
  std::vector<Account> accounts;
  passwords::PasswordOptions passwords;
  passwords::ThrottleOptions throttle;
  oidc::OidcOptions oidc;
};
KATANA_DESCRIBE(LoginSettings, (enabled, help("who uses the API has to log in")),
                (accounts, help("who may log in by a password: {name, password: HASH, roles}; "
                                "`katana password` makes the hash")),
                (passwords, help("how passwords are hashed")),
                (throttle, help("how often passwords may be guessed")),
                (oidc, help("the OpenID provider; without an issuer there is none")))

// Adds the routes above, in front of all others; needs the settings `sessions`.
Result<void> add_login(Router& router, const registry::Services& services,
                       const LoginSettings& settings, const client::HttpClientOptions& client);
// Routes added to the group from now on require a login, and for changes the role `editor`.
void require_login(Group& group, const sessions::Sessions& sessions);

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
