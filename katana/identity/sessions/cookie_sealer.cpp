#include "katana/identity/sessions/cookie_sealer.hpp"

#include <fmt/format.h>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::sessions {
namespace {

constexpr Bytes purpose = "katana session cookie 1";

}  // namespace

Result<CookieSealer> CookieSealer::make(std::span<const std::string> secrets, Bytes cookie_name) {
  if (secrets.empty() || secrets.size() > keys_max) {
    return fail(
        Code::invalid_argument,
        fmt::format("sessions: cookies are sealed with 1 to {} keys, and {} are given; make "
                    "one with `openssl rand -base64 48`",
                    keys_max, secrets.size()));
  }
  CookieSealer sealer;
  for (const std::string& secret : secrets) {
    if (secret.size() < secret_bytes_min) {
      return fail(Code::invalid_argument,
                  fmt::format("sessions: key {} has {} bytes, and {} are needed; make one with "
                              "`openssl rand -base64 48`",
                              sealer.keys_.size() + 1, secret.size(), secret_bytes_min));
    }
    const SecretText key =
        crypto::hkdf(crypto::Hash::sha256, secret, purpose, cookie_name, crypto::Aead::key_bytes);
    sealer.keys_.emplace_back(key.reveal());
  }
  return sealer;
}

std::string CookieSealer::seal(const SessionRecord& record) const {
  return encode_base64url(keys_.front().seal(encode_session(record), purpose));
}

std::optional<SessionRecord> CookieSealer::open(Bytes value) const {
  const auto sealed = decode_base64url(value);
  if (!sealed) return std::nullopt;
  for (const crypto::Aead& key : keys_) {
    if (const auto opened = key.open(*sealed, purpose)) return decode_session(*opened);
  }
  return std::nullopt;
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
