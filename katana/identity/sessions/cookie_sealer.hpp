// CookieSealer: a session as the value of a cookie that its client can neither read nor change.
//
// A ring of keys: the first seals, all open. To change the key without ending sessions, put a new
// one in front; take the old one out when `absolute` has passed.
//
// Owns       a key for each secret, derived from it (HKDF) for this use and this cookie's name.
// Thread     any: it does not change.
// Allocates  what is returned.
// Fails      make() names the secret that is too short. open() is nothing for what was not sealed
//            here, and does not say why.
// Invariant  a cookie of another name or another program does not open, unless it has both secret
//            and name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/crypto/aead.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/identity/sessions/record.hpp"

namespace katana::sessions {

class CookieSealer {
 public:
  static constexpr std::size_t secret_bytes_min = 32;  // of random bytes, or more of text
  static constexpr std::size_t keys_max = 8;           // each is tried for each cookie

  // For cookies of this name alone.
  static Result<CookieSealer> make(std::span<const std::string> secrets, Bytes cookie_name);

  // As base64url.
  std::string seal(const SessionRecord& record) const;
  std::optional<SessionRecord> open(Bytes value) const;
  // How long the value of a record of so many encoded bytes is.
  static constexpr std::size_t value_bytes(std::size_t encoded_bytes) noexcept {
    return ((encoded_bytes + crypto::Aead::overhead_bytes) * 4 + 2) / 3;
  }

 private:
  CookieSealer() = default;
  std::vector<crypto::Aead> keys_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
