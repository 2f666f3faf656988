#include "katana/jose/hash.hpp"

#include "katana/base/check.hpp"
#include "katana/jose/openssl.hpp"

namespace katana::jose {

std::string sha256(Bytes text) {
  std::string hash(32, '\0');
  std::size_t size = 0;
  KATANA_CHECK(EVP_Q_digest(nullptr, "SHA2-256", nullptr, text.data(), text.size(),
                            detail::octets(hash), &size) == 1 &&
               size == hash.size());
  return hash;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
