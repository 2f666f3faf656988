// Auth settings: which issuer signs the tokens of users, and which of their claims are accepted.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; Authentication::make() reports settings that contradict one another.
#pragma once

#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/identity/jose/algorithm.hpp"

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
  bool requires_tls = false;                            // 400 to tokens that came without it
  std::string roles = "/roles";                         // JSON pointer into the claims
  std::string scopes = "/scope";                        // likewise
  std::size_t cached_tokens_max = 1024;                 // of each reactor
  std::size_t cached_bytes_max = std::size_t{4} << 20;  // of each reactor
  Duration keys_fresh_max = seconds(24 * 3600);         // bound of max-age
  Duration keys_kept_max = seconds(24 * 3600);          // while the URL does not answer
  Duration keys_timeout = seconds(5);                   // of one fetch
  std::size_t revocations_max = std::size_t{64} << 10;  // of the process

  // Whether there is something to verify with.
  bool given() const noexcept { return !jwks_url.empty() || !keys_file.empty(); }
};

// The section `auth` of the configuration.
struct AuthSettings {
  BearerSettings bearer;  // the issuer of tokens, and the claims of a valid one
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
