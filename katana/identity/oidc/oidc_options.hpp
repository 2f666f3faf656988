// OidcOptions: the provider for logins, and the registration of this program as its client.
//
// Owns       values only.
// Thread     values.
// Fails      OidcLogin::make() names the wrong option, and its allowed values.
#pragma once

#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::oidc {

struct OidcOptions {
  // The issuer exactly as the provider writes it: https://id.example.org. http is only for
  // loopback.
  std::string issuer;
  std::string client_id;
  // The secret of the client. Empty: a public client, which only PKCE protects.
  std::string client_secret;
  // The URL to which the provider sends browsers back: absolute, and registered at the provider.
  std::string redirect_uri;
  // The requested scopes. "openid" is added where it is missing.
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  // The claim with the roles of the principal, as a text or a list of texts.
  std::string roles_claim = "roles";
  // Paths of this program that begin a login, and end a session.
  std::string login_path = "/login";
  std::string logout_path = "/logout";
  // The paths to which browsers go then, unless ?return_to= names another path.
  std::string after_login = "/";
  std::string after_logout = "/";
  // Secrets that seal pending logins, at least 32 bytes each: the first seals, all open. All
  // instances of a program need the same ones.
  std::vector<std::string> secrets;
  // The accepted algorithms of ID tokens.
  std::vector<std::string> algorithms = {"RS256", "ES256", "EdDSA"};
  // False: for development without TLS; the cookie then has no __Host- prefix.
  bool secure = true;
  // The time that a user may take to log in at the provider.
  Duration login_max = seconds(600);
  // The provider's metadata and keys are fetched again after this time. While it does not
  // answer, the known ones are used for up to stale_max.
  Duration metadata_max_age = seconds(3600);
  Duration stale_max = seconds(24 * 3600);
  // The largest difference of clocks.
  Duration leeway = seconds(30);
  // The timeout of a request to the provider.
  Duration timeout = seconds(10);
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
