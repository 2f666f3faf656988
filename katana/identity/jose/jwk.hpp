// JWK: keys as JSON (RFC 7517), one or a set, as an issuer publishes them.
//
//   auto keys = read_jwk_set(json, {Algorithm::rs256, Algorithm::es256});
//
// The caller names the algorithms that it allows. A key that says no `alg` gets the first of them
// that fits its type, so a key never has two (RFC 8725 §3.1). What is not a public key of type RSA,
// EC (P-256, P-384, P-521) or OKP (Ed25519, Ed448), or a secret of type oct; what `use` or
// `key_ops` reserve for something else; and what is malformed is passed over, as RFC 7517 §5 asks,
// and named. x5c, x5u and jku are never followed.
//
// Owns       the keys.
// Thread     any.
// Allocates  the keys and what is read.
// Fails      an error: no JSON, too large, a name twice, or no usable key at all.
// Invariant  a set has at most keys_max keys, ids have at most key_id_bytes_max bytes.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/data/container/value.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/key.hpp"

namespace katana::jose {

// For a set that is read; one more is an error.
inline constexpr std::size_t keys_max = 64;
// Of a `kid`, in bytes.
inline constexpr std::size_t key_id_bytes_max = 256;
// Of a set as JSON, in bytes.
inline constexpr std::size_t jwk_set_bytes_max = 256 * 1024;

// Reads keys whose JSON was read already.
class JwkReader {
 public:
  explicit JwkReader(std::vector<Algorithm> allowed) : allowed_(std::move(allowed)) {}
  // Its public part, also of a key with a private one.
  Result<VerificationKey> verification_key(const container::Object& jwk) const;
  // With `d`, the private part, or `k`.
  Result<SigningKey> signing_key(const container::Object& jwk) const;

 private:
  Result<std::shared_ptr<const detail::Signer>> signer(const container::Object& jwk,
                                                       bool with_private_part) const;
  std::vector<Algorithm> allowed_;
};

// One public key, or secret, as JSON.
Result<VerificationKey> read_jwk(Bytes json, const std::vector<Algorithm>& allowed);
// One private key, or secret, as JSON.
Result<SigningKey> read_private_jwk(Bytes json, const std::vector<Algorithm>& allowed);

// What a set has.
struct JwkSet {
  // In their order; at least one.
  std::vector<VerificationKey> keys;
  std::vector<std::string> passed_over;  // "key 2 ('a'): RS256 takes an RSA key …"
};
// {"keys":[…]} (RFC 7517 §5).
Result<JwkSet> read_jwk_set(Bytes json, const std::vector<Algorithm>& allowed);

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
