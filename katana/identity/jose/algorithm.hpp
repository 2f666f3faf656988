// Algorithm: how a token is signed (RFC 7518 §3.1, RFC 8037 §3.1). `none` is not one of them.
//
// Thread     any.
// Allocates  asymmetric_algorithms(), once.
// Fails      a name that stands for none of them is nothing. Names are case-sensitive.
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
// How many there are.
inline constexpr std::size_t algorithm_count = 13;

// What keys and signatures of an algorithm are like.
enum class Family : std::uint8_t {
  hmac,     // a secret that both sides have
  rsa,      // PKCS #1 v1.5
  rsa_pss,  // with MGF1 of the same hash, and salt of its size
  ecdsa,    // on P-256, P-384 and P-521
  eddsa,    // Ed25519 and Ed448
};

// "RS256"
Bytes name_of(Algorithm algorithm) noexcept;
std::optional<Algorithm> algorithm_from(Bytes name) noexcept;

// The family of an algorithm.
constexpr Family family_of(Algorithm algorithm) noexcept {
  return static_cast<Family>(static_cast<unsigned>(algorithm) / 3);
}
// For the hash; EdDSA has its own inside, and 0 here.
constexpr std::size_t hash_bytes(Algorithm algorithm) noexcept {
  if (family_of(algorithm) == Family::eddsa) return 0;
  return 32 + 16 * (static_cast<std::size_t>(algorithm) % 3);
}
// Of one coordinate of a point, and of each half of a signature (RFC 7518 §3.4). REQUIRES ECDSA.
constexpr std::size_t coordinate_bytes(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::es256 ? 32 : algorithm == Algorithm::es384 ? 48 : 66;
}

// What a public key may be used with. An HMAC has to be named.
inline const std::vector<Algorithm>& asymmetric_algorithms() {
  static const std::vector<Algorithm> all = {
      Algorithm::rs256, Algorithm::rs384, Algorithm::rs512, Algorithm::ps256, Algorithm::ps384,
      Algorithm::ps512, Algorithm::es256, Algorithm::es384, Algorithm::es512, Algorithm::eddsa};
  return all;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
