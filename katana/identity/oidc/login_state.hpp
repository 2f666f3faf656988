// LoginState: a login that is under way at the provider. It travels sealed, as the `state` of the
// authorization request. The server therefore stores nothing for users who never return.
//
// Owns       its texts; StateSealer a key for each secret.
// Thread     any: a StateSealer does not change.
// Allocates  the returned value.
// Fails      open() returns nothing for text that was not sealed here, and for an expired state.
// Invariant  a state is valid only in the browser that began it. `browser` is the hash of that
//            browser's cookie (RFC 6749 §10.12).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/crypto/aead.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"

namespace katana::oidc {

struct LoginState {
  std::string browser = {};    // base64url of the SHA-256 of the cookie's value
  std::string nonce = {};      // the ID token must repeat it (OpenID Connect Core §3.1.2.1)
  std::string verifier = {};   // verifier of PKCE (RFC 7636 §4.1)
  std::string return_to = {};  // a path of this program
  std::int64_t expires_s = 0;  // Unix seconds
};
// The members that are sealed.
KATANA_DESCRIBE(LoginState, browser, nonce, verifier, return_to, expires_s)

class StateSealer {
 public:
  static constexpr std::size_t secret_bytes_min = 32;  // smallest size of each secret
  static constexpr std::size_t secrets_max = 8;        // the first seals, all of them open

  // Makes a sealer. A state for one `client` of a provider does not open for another client.
  static Result<StateSealer> make(std::span<const std::string> secrets, const std::string& client);

  // Seals a state as base64url.
  std::string seal(const LoginState& state) const;
  std::optional<LoginState> open(Bytes text, std::int64_t now_s) const;

 private:
  StateSealer() = default;
  std::vector<crypto::Aead> keys_;
};

inline constexpr std::size_t return_to_bytes_max = 512;  // limit of a path after a login
// True if a browser may be sent there after a login. It must be a path of this program, in at most
// return_to_bytes_max printable bytes, which no browser takes for another site.
bool is_local_path(Bytes path) noexcept;

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
