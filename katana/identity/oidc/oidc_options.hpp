// OidcOptions: by which provider users log in, and as which client of it this program is known.
//
// Owns       values only.
// Thread     values.
// Fails      OidcLogin::make() names the option that is wrong, and says what it may be.
#pragma once

#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::oidc {

struct OidcOptions {
  // As the provider writes it, to the byte: https://id.example.org. http is for loopback alone.
  std::string issuer;
  std::string client_id;
  // Empty: a public client, which PKCE protects alone.
  std::string client_secret;
  // Where the provider sends browsers back to: an absolute URL of this program, registered there.
  std::string redirect_uri;
  // "openid" is added where it is missing.
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  // The claim, a text or a list of them, whose values become roles of the principal.
  std::string roles_claim = "roles";
  // Paths of this program: where a login begins, and where a session ends.
  std::string login_path = "/login";
  std::string logout_path = "/logout";
  // Where browsers go then, unless ?return_to= names another path.
  std::string after_login = "/";
  std::string after_logout = "/";
  // What seals logins that are under way, at least 32 bytes each: the first seals, all open. All
  // instances of a program have the same.
  std::vector<std::string> secrets;
  // Of ID tokens.
  std::vector<std::string> algorithms = {"RS256", "ES256", "EdDSA"};
  // False: for development without TLS; the cookie has no __Host- prefix then.
  bool secure = true;
  // How long a user may take to log in at the provider.
  Duration login_max = seconds(600);
  // The provider's metadata and keys are fetched again after this time. While it does not
  // answer, the known ones are used for up to stale_max.
  Duration metadata_max_age = seconds(3600);
  Duration stale_max = seconds(24 * 3600);
  // How far clocks may differ.
  Duration leeway = seconds(30);
  // For a request to the provider.
  Duration timeout = seconds(10);
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
