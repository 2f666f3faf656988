#include "katana/identity/sessions/stored_key.hpp"

#include "katana/base/values/base64.hpp"

namespace katana::sessions {

std::string key_text(const SessionKey& key) { return encode_base64url(key.bytes()); }

std::string owner_text(const std::string& issuer, const std::string& principal) {
  if (principal.empty()) return {};
  std::string both = issuer;
  both.push_back('\0');
  return key_text(crypto::sha256(both += principal));
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
