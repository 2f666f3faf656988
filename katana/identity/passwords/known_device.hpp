// KnownDevices: tokens by which a browser that has logged in once is known again, so that guesses
// of strangers never make its user wait (OWASP, "device cookies"). They prove nothing but that.
//
//   const std::string device = devices.find(cookie_value, name);      // empty: not known
//   const Duration wait = throttle.begin(name, address, now, device);
//   …
//   if (right) throttle.succeeded(name, address, device);
//   set_cookie(reply, {.name = "__Host-device", .value = devices.token(name), …});
//
// A token has a random name and an HMAC of that and the account: nothing is kept of it.
//
// Owns       a key for each secret.
// Thread     any: it does not change.
// Allocates  what is returned.
// Fails      make() names the secret that is too short. find() is empty for a token that is of
//            another account, was changed, or was made with another secret.
// Invariant  a token is good for the account that it was made for alone, and each counts
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
  static constexpr std::size_t secrets_max = 8;  // the first makes tokens, all of them are good

  // Without a secret it takes a random one: tokens are good in this process, until it ends.
  static Result<KnownDevices> make(std::span<const std::string> secrets = {});

  // A new one each time, for a cookie that lasts: text of 64 characters.
  std::string token(Bytes account) const;
  std::string find(Bytes token, Bytes account) const;

 private:
  KnownDevices() = default;
  std::vector<crypto::Hmac> keys_;
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
