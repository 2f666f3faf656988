// One-time passwords by time (RFC 6238), as authenticator apps make them, and the secrets that they
// are made of, as Base32 (RFC 4648 §6).
//
//   const std::string secret = random_octets(20);                     // kept with the user
//   passwords::totp_uri("Shop", "ann@example.org", secret);           // as a QR code, once
//   const auto step = passwords::verify_totp(secret, given, now_s, user.totp_step);
//   if (step) …                                     // right; keep *step as user.totp_step
//
// Owns       nothing.
// Thread     any.
// Allocates  what is returned.
// Fails      verify_totp() is nothing for what is wrong, too old, or was used.
// Invariant  a step that was kept, and every one before it, is refused from then on: a code that
//            somebody has read over a shoulder works once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/bytes.hpp"
#include "katana/crypto/digest.hpp"

namespace katana::passwords {

// Of a secret: what its app was told, but for the window.
struct TotpOptions {
  crypto::Hash hash = crypto::Hash::sha1;  // all apps know this one, and some no other
  unsigned digits = 6;                     // 6 to 8
  unsigned period_s = 30;                  // how long a code is shown
  unsigned window = 1;                     // steps before and after the present one: clocks differ
};

// Of the step `now_s / period_s`.
std::string totp(Bytes secret, std::int64_t now_s, const TotpOptions& options = {});
// The step of the code; keep it. `last_step`: that of the last one that was right, or -1.
std::optional<std::int64_t> verify_totp(Bytes secret, Bytes code, std::int64_t now_s,
                                        std::int64_t last_step, const TotpOptions& options = {});

// "otpauth://totp/Shop:ann%40example.org?secret=…&issuer=Shop&…"
std::string totp_uri(Bytes issuer, Bytes account, Bytes secret, const TotpOptions& options = {});

// In capitals, without padding; read with small letters too, and nothing for other characters.
std::string encode_base32(Bytes octets);
std::optional<std::string> decode_base32(Bytes text);

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
