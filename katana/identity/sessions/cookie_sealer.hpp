// CookieSealer: a session as the value of a cookie that its client can neither read nor change.
//
// It has a list of keys: the first seals, all open. To change the key without ending sessions, put
// a new one in front. Remove the old one when `absolute` has passed.
//
// Owns       a key for each secret, derived from it (HKDF) for this use and this cookie's name.
// Thread     any: it does not change.
// Allocates  the returned value.
// Fails      make() names the secret that is too short. open() returns nothing, without a reason,
//            for a value that was not sealed here.
// Invariant  a cookie opens only if it was sealed for the same name, with one of the secrets.
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
  static constexpr std::size_t secret_bytes_min = 32;  // smallest size; text needs more
  static constexpr std::size_t keys_max = 8;           // each cookie may be tried with every key

  // Makes a sealer for cookies of this name only.
  static Result<CookieSealer> make(std::span<const std::string> secrets, Bytes cookie_name);

  // Seals a record as base64url.
  std::string seal(const SessionRecord& record) const;
  std::optional<SessionRecord> open(Bytes value) const;
  // The size of a cookie's value for a record with this number of encoded bytes.
  static constexpr std::size_t value_bytes(std::size_t encoded_bytes) noexcept {
    return ((encoded_bytes + crypto::Aead::overhead_bytes) * 4 + 2) / 3;
  }

 private:
  CookieSealer() = default;
  std::vector<crypto::Aead> keys_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
