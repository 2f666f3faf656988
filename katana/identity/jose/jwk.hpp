// JWK: reads keys as JSON (RFC 7517), one key or the set that an issuer publishes.
//
//   auto keys = read_jwk_set(json, {Algorithm::rs256, Algorithm::es256});
//
// The caller names the allowed algorithms. A key without `alg` gets the first of them that fits its
// type: a key never has two (RFC 8725 §3.1). Allowed are public keys of the types RSA, EC (P-256,
// P-384, P-521) and OKP (Ed25519, Ed448), and secrets of type oct. Other keys, malformed keys, and
// keys that `use` or `key_ops` reserve for another purpose are skipped, as RFC 7517 §5 asks. The
// result names them. x5c, x5u and jku are never followed.
//
// Owns       the keys.
// Thread     any.
// Allocates  the keys and the parsed JSON.
// Fails      an error: no JSON, too large, a repeated name, or no usable key at all.
// Invariant  a set has at most keys_max keys, and ids have at most key_id_bytes_max bytes.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/data/container/value.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/key.hpp"

namespace katana::jose {

// The largest number of keys in a set; more are an error.
inline constexpr std::size_t keys_max = 64;
// The largest size of a `kid`, in bytes.
inline constexpr std::size_t key_id_bytes_max = 256;
// The largest size of a set as JSON, in bytes.
inline constexpr std::size_t jwk_set_bytes_max = 256 * 1024;

// Reads keys from parsed JSON.
class JwkReader {
 public:
  explicit JwkReader(std::vector<Algorithm> allowed) : allowed_(std::move(allowed)) {}
  // Reads the public part of a key, which may have a private one.
  Result<VerificationKey> verification_key(const container::Object& jwk) const;
  // Reads a key with its private part `d`, or a secret `k`.
  Result<SigningKey> signing_key(const container::Object& jwk) const;

 private:
  Result<std::shared_ptr<const detail::Signer>> signer(const container::Object& jwk,
                                                       bool with_private_part) const;
  std::vector<Algorithm> allowed_;
};

// Reads one public key, or secret.
Result<VerificationKey> read_jwk(Bytes json, const std::vector<Algorithm>& allowed);
// Reads one private key, or secret.
Result<SigningKey> read_private_jwk(Bytes json, const std::vector<Algorithm>& allowed);

// The usable keys of a set, and the skipped ones.
struct JwkSet {
  // The keys in their order; at least one.
  std::vector<VerificationKey> keys;
  std::vector<std::string> passed_over;  // "key 2 ('a'): RS256 takes an RSA key …"
};
// Reads a set {"keys":[…]} (RFC 7517 §5).
Result<JwkSet> read_jwk_set(Bytes json, const std::vector<Algorithm>& allowed);

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
