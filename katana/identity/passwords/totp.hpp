// Time-based one-time passwords (RFC 6238), which authenticator apps make, and their secrets as
// Base32 (RFC 4648 §6).
//
//   const std::string secret = random_octets(20);                     // kept with the user
//   passwords::totp_uri("Shop", "ann@example.org", secret);           // as a QR code, once
//
//   const auto step = passwords::verify_totp(secret, given, now_s, user.totp_step);
//
//   // Right only if this changes a row: another request may have used the same code meanwhile.
//   if (step) "UPDATE users SET totp_step = $step WHERE id = $id AND totp_step < $step"
//
// A program of one instance may use UsedSteps instead of the column.
//
// Owns       UsedSteps a table of bounded size; nothing else.
// Thread     any; UsedSteps has one lock.
// Allocates  the returned text.
// Fails      verify_totp() returns nothing for a code that is wrong, too old, or used.
//            UsedSteps::use() is false for a used step, and when the table is full.
// Invariant  a kept step and all steps before it are refused from then on. A code that a third
//            person has seen therefore works only once.
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

// Options of a secret. The app knows all of them except the window.
struct TotpOptions {
  crypto::Hash hash = crypto::Hash::sha1;  // all apps support SHA-1, and some nothing else
  unsigned digits = 6;                     // 6 to 8
  unsigned period_s = 30;                  // seconds for which a code is shown
  unsigned window = 1;                     // steps before and after the present one: clocks differ
};

// The code of the step `now_s / period_s`.
std::string totp(Bytes secret, std::int64_t now_s, const TotpOptions& options = {});
// Verifies a code and returns its step, which must be kept. `last_step` is the step of the last
// right code, or -1.
std::optional<std::int64_t> verify_totp(Bytes secret, Bytes code, std::int64_t now_s,
                                        std::int64_t last_step, const TotpOptions& options = {});

// The step of the last right code of each account. If two requests have the same code, only one
// gets true.
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

// The URI for an app: "otpauth://totp/Shop:ann%40example.org?secret=…&issuer=Shop&…".
std::string totp_uri(Bytes issuer, Bytes account, Bytes secret, const TotpOptions& options = {});

// Base32 in capitals and without padding. The decoder also accepts small letters, and returns
// nothing for other characters.
std::string encode_base32(Bytes octets);
std::optional<std::string> decode_base32(Bytes text);

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
