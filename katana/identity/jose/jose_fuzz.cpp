// Invariant: no bytes are accepted as a token that this program did not sign. An accepted set of
// keys is written, and read again.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"

using namespace katana;
using namespace katana::jose;

namespace {

const SigningKey& signing_key() {
  static const SigningKey key =
      *SigningKey::from_secret(Algorithm::hs256, "4f8a61c0d97be2350a6f18c4e7d29b53");
  return key;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes text(reinterpret_cast<const char*>(data), size);
  static const std::array keys = {signing_key().verification_key()};
  const Timestamp now(std::chrono::seconds(1'800'000'000));

  KATANA_CHECK(!verify_jws(text, keys));

  // The same bytes as header and claims of a token whose signature is right.
  const std::size_t cut = text.find('.');
  if (cut != Bytes::npos) {
    const std::string input =
        encode_base64url(text.substr(0, cut)) + "." + encode_base64url(text.substr(cut + 1));
    const auto token = verify_jwt(input + "." + encode_base64url(*signing_key().sign(input)), keys,
                                  {.issuers = {"i"}, .audiences = {"a"}}, now);
    KATANA_CHECK(!token || (token->claims.issuer == "i" && !token->claims.subject.empty() &&
                            *token->claims.expires_at + std::chrono::seconds(30) > now));
    if (!token) KATANA_CHECK(token.error().describe().size() < 256);
  }

  const auto set = read_jwk_set(text, asymmetric_algorithms());
  if (!set) return 0;
  for (const VerificationKey& key : set->keys) {
    const auto again = read_jwk(key.jwk(), {key.algorithm()});
    KATANA_CHECK(again && again->thumbprint() == key.thumbprint() && again->id() == key.id());
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
