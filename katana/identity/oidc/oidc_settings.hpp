// The description of OidcOptions, for the settings of a program:
//
//   struct Settings : app::ApplicationSettings {
//     oidc::OidcOptions login;
//   };
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
// Invariant  OidcLogin::make() may refuse values that the description allows, and names the reason.
#pragma once

#include "katana/base/values/described.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

KATANA_DESCRIBE(
    OidcOptions, (issuer, help("URL of the OpenID provider, as that writes it")),
    (client_id, help("of this program, at the provider")),
    (client_secret, secret, help("the same; empty: a public client")),
    (redirect_uri, help("absolute URL of this program where logins come back")),
    (scopes, help("what the provider is asked for")),
    (roles_claim, help("claim whose values become roles")),
    (login_path, help("where a login begins")),
    (logout_path, help("where a session ends, by POST")),
    (after_login, help("where browsers go then")), (after_logout, help("the same")),
    (secrets, secret, help("what seals logins under way: the first seals, all open")),
    (algorithms, help("of ID tokens")), (secure, help("false: for development without TLS")),
    (login_max, range(seconds(10), seconds(3600)), help("how long a user may take to log in")),
    (metadata_max_age, range(seconds(10), seconds(7 * 24 * 3600)),
     help("the provider and its keys are asked for again after so long")),
    (stale_max, range(Duration{}, seconds(30 * 24 * 3600)),
     help("how old they may be while the provider does not answer")),
    (leeway, range(Duration{}, seconds(600)), help("how far clocks may differ")),
    (timeout, range(milliseconds(1), seconds(300)), help("of a request to the provider")))

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
