// KnownDevices: tokens that identify a browser that has logged in once. Guesses of strangers then
// never make its user wait (OWASP, "device cookies"). The tokens prove nothing else.
//
//   const std::string device = devices.find(cookie_value, name);      // empty: not known
//   const Duration wait = throttle.begin(name, address, now, device);
//   …
//   if (right) throttle.succeeded(name, address, device);
//   set_cookie(reply, {.name = "__Host-device", .value = devices.token(name), …});
//
// A token has a random name, and an HMAC of the name and the account. The server stores nothing.
//
// Owns       a key for each secret.
// Thread     any: it does not change.
// Allocates  the returned text.
// Fails      make() names the secret that is too short. The result of find() is empty for a token
//            that is for another account, was changed, or was made with another secret.
// Invariant  a token is valid only for the account for which it was made, and each counts
//            separately.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::passwords {

class KnownDevices {
 public:
  static constexpr std::size_t secret_bytes_min = 32;  // make() refuses a shorter secret
  static constexpr std::size_t secrets_max = 8;        // the first makes tokens, all verify them

  // Without a secret it makes a random one: tokens are then valid only in this process.
  static Result<KnownDevices> make(std::span<const std::string> secrets = {});

  // Makes a new token for a persistent cookie: text of 64 characters.
  std::string token(Bytes account) const;
  std::string find(Bytes token, Bytes account) const;

 private:
  KnownDevices() = default;
  std::vector<crypto::Hmac> keys_;
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
