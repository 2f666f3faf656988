// One-time passwords by time (RFC 6238), as authenticator apps make them, and the secrets that they
// are made of, as Base32 (RFC 4648 §6).
//
//   const std::string secret = random_octets(20);                     // kept with the user
//   passwords::totp_uri("Shop", "ann@example.org", secret);           // as a QR code, once
//   const auto step = passwords::verify_totp(secret, given, now_s, user.totp_step);
//   // Right only if this changes a row: another request may have used the same code meanwhile.
//   if (step) "UPDATE users SET totp_step = $step WHERE id = $id AND totp_step < $step"
//
// A program of one instance may take UsedSteps in the place of the column.
//
// Owns       UsedSteps a table of bounded size; nothing else.
// Thread     any; UsedSteps has one lock.
// Allocates  what is returned.
// Fails      verify_totp() is nothing for what is wrong, too old, or was used. UsedSteps::use() is
//            false for a step that was used, and when the table is full.
// Invariant  a step that was kept, and every one before it, is refused from then on: a code that
//            somebody has read over a shoulder works once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::passwords {

// For a secret: what its app was told, but for the window.
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

// The last step of each account whose code was right. Two requests with one code: one gets true.
class UsedSteps {
 public:
  explicit UsedSteps(std::size_t accounts_max = 64 * 1024) : accounts_max_(accounts_max) {}

  // True once, for a step that is later than every one of the account before. REQUIRES steps of
  // verify_totp() with these options.
  bool use(Bytes account, std::int64_t step, const TotpOptions& options = {});

 private:
  const std::size_t accounts_max_;
  std::mutex mutex_;
  std::map<std::string, std::int64_t, std::less<>> steps_;
  std::int64_t latest_ = 0;
};

// "otpauth://totp/Shop:ann%40example.org?secret=…&issuer=Shop&…"
std::string totp_uri(Bytes issuer, Bytes account, Bytes secret, const TotpOptions& options = {});

// In capitals, without padding; read with small letters too, and nothing for other characters.
std::string encode_base32(Bytes octets);
std::optional<std::string> decode_base32(Bytes text);

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
