// Algorithm: a signature algorithm of tokens (RFC 7518 §3.1, RFC 8037 §3.1). `none` is not one.
//
// Thread     any.
// Allocates  asymmetric_algorithms(), once.
// Fails      algorithm_from() returns nothing for an unknown name. Names are case-sensitive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::jose {

enum class Algorithm : std::uint8_t {
  hs256,  // HMAC with SHA-256
  hs384,  // HMAC with SHA-384
  hs512,  // HMAC with SHA-512
  rs256,  // RSA PKCS #1 v1.5 with SHA-256
  rs384,  // the same with SHA-384
  rs512,  // the same with SHA-512
  ps256,  // RSA-PSS with SHA-256
  ps384,  // the same with SHA-384
  ps512,  // the same with SHA-512
  es256,  // ECDSA on P-256 with SHA-256
  es384,  // ECDSA on P-384 with SHA-384
  es512,  // ECDSA on P-521 with SHA-512
  eddsa,  // Ed25519 or Ed448, by the key
};
// The number of algorithms.
inline constexpr std::size_t algorithm_count = 13;

// The kind of keys and signatures of an algorithm.
enum class Family : std::uint8_t {
  hmac,     // a shared secret
  rsa,      // PKCS #1 v1.5
  rsa_pss,  // with MGF1 of the same hash, and salt of its size
  ecdsa,    // on P-256, P-384 and P-521
  eddsa,    // Ed25519 and Ed448
};

// The name of an algorithm: "RS256".
Bytes name_of(Algorithm algorithm) noexcept;
std::optional<Algorithm> algorithm_from(Bytes name) noexcept;

// The family of an algorithm.
constexpr Family family_of(Algorithm algorithm) noexcept {
  return static_cast<Family>(static_cast<unsigned>(algorithm) / 3);
}
// The size of the hash in bytes; 0 for EdDSA, which includes its hash.
constexpr std::size_t hash_bytes(Algorithm algorithm) noexcept {
  if (family_of(algorithm) == Family::eddsa) return 0;
  return 32 + 16 * (static_cast<std::size_t>(algorithm) % 3);
}
// The size in bytes of a coordinate of a point, and of each half of a signature (RFC 7518 §3.4).
// REQUIRES ECDSA.
constexpr std::size_t coordinate_bytes(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::es256 ? 32 : algorithm == Algorithm::es384 ? 48 : 66;
}

// The algorithms of public keys. HMAC algorithms are not among them: they must be named explicitly.
inline const std::vector<Algorithm>& asymmetric_algorithms() {
  static const std::vector<Algorithm> all = {
      Algorithm::rs256, Algorithm::rs384, Algorithm::rs512, Algorithm::ps256, Algorithm::ps384,
      Algorithm::ps512, Algorithm::es256, Algorithm::es384, Algorithm::es512, Algorithm::eddsa};
  return all;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
