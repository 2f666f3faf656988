// Only a sealed cookie opens, and it gives the sealed record. A decoded record is encoded to the
// same bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/identity/sessions/cookie_sealer.hpp"

namespace {

using namespace katana;

const sessions::CookieSealer& sealer() {
  static const auto made = [] {
    const std::string secrets[] = {std::string(32, 'k'), std::string(32, 'l')};
    return *sessions::CookieSealer::make(secrets, "__Host-session");
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const char*>(data), size);
  KATANA_CHECK(!sealer().open(input));
  if (const auto record = sessions::decode_session(input)) {
    KATANA_CHECK(sessions::encode_session(*record) == input);
    std::string sealed = sealer().seal(*record);
    const auto opened = sealer().open(sealed);
    KATANA_CHECK(opened && sessions::encode_session(*opened) == input);
    sealed[size % sealed.size()] ^= 1;
    KATANA_CHECK(!sealer().open(sealed));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
