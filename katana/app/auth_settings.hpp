// Auth settings: by whom the program has its users' tokens signed, and what it believes of them.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what contradicts itself is said by Authentication::make().
#pragma once

#include <string>
#include <vector>

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/jwk.hpp"

namespace katana::jose {

KATANA_DESCRIBE_ENUM(Algorithm, (hs256, "HS256"), (hs384, "HS384"), (hs512, "HS512"),
                     (rs256, "RS256"), (rs384, "RS384"), (rs512, "RS512"), (ps256, "PS256"),
                     (ps384, "PS384"), (ps512, "PS512"), (es256, "ES256"), (es384, "ES384"),
                     (es512, "ES512"), (eddsa, "EdDSA"))

}  // namespace katana::jose

namespace katana::app {

// JWTs in `Authorization: Bearer`; see auth::BearerOptions and auth::RemoteKeysOptions.
struct BearerSettings {
  std::string issuer;                  // of `iss`; required with keys
  std::vector<std::string> audiences;  // of which `aud` has one
  std::string jwks_url;                // where keys are published; empty: nowhere
  std::string keys_file;               // in its place
  std::vector<jose::Algorithm> algorithms = jose::asymmetric_algorithms();  // of keys
  std::vector<std::string> types = {"JWT", "at+jwt"};                       // of `typ`
  Duration leeway = seconds(30);                                            // of the clocks
  Duration age_max = {};                                                    // since `iat`; 0: any
  std::string realm;                                                        // of the challenge
  std::string roles = "/roles";                         // JSON pointer into the claims
  std::string scopes = "/scope";                        // likewise
  std::size_t cached_tokens_max = 1024;                 // of each reactor
  std::size_t cached_bytes_max = std::size_t{4} << 20;  // of each reactor
  Duration keys_fresh_max = seconds(24 * 3600);         // at most, whatever max-age says
  Duration keys_kept_max = seconds(24 * 3600);          // while the URL does not answer
  Duration keys_timeout = seconds(5);                   // of one fetch
  std::size_t revocations_max = std::size_t{64} << 10;  // of the process

  // Whether there is something to verify with.
  bool given() const noexcept { return !jwks_url.empty() || !keys_file.empty(); }
};
// Keys, their rules and their help.
KATANA_DESCRIBE(
    BearerSettings,
    (issuer, length(0, 1000), help("who signs tokens: their `iss`, exactly; required with keys")),
    (audiences, length(0, 64), each(length(1, 1000)),
     help("names of this service, of which `aud` has one; empty: tokens that have `aud` are "
          "refused")),
    (jwks_url, length(0, 2000),
     help("where the issuer publishes its keys (https); empty: nowhere")),
    (keys_file, length(0, 4000),
     help("a JSON file with them (JWK set), in place of the URL; read again by SIGHUP")),
    (algorithms, length(1, jose::algorithm_count),
     help("that keys may have; HS256 and the like only if named, and only with keys_file")),
    (types, length(1, 16), each(length(1, 100)),
     help("that `typ` of a token may be, if it is said")),
    (leeway, range(Duration{}, seconds(600)), help("how far clocks may differ")),
    (age_max, range(Duration{}, seconds(std::int64_t{366} * 24 * 3600)),
     help("since a token was issued; 0: until it expires")),
    (realm, length(0, 200), help("of WWW-Authenticate; empty: none is named")),
    (roles, length(1, 200), help("where the roles are among the claims (JSON pointer)")),
    (scopes, length(1, 200), help("where the scopes are among the claims (JSON pointer)")),
    (cached_tokens_max, at_most(1 << 20), help("verified tokens that a reactor keeps; 0: none")),
    (cached_bytes_max, byte_count, at_most(std::size_t{1} << 30), help("their size, likewise")),
    (keys_fresh_max, range(seconds(60), seconds(7 * 24 * 3600)),
     help("jwks_url is asked again after so long, or earlier by its max-age")),
    (keys_kept_max, range(seconds(60), seconds(30 * 24 * 3600)),
     help("how old keys may get while jwks_url does not answer; then requests get 503")),
    (keys_timeout, range(milliseconds(10), seconds(60)), help("for one answer of jwks_url")),
    (revocations_max, range(1, 1 << 24), help("tokens and persons that are revoked at a time")))

struct AuthSettings {
  BearerSettings bearer;
};
KATANA_DESCRIBE(AuthSettings, bearer)

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
