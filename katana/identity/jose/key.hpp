// Keys of tokens: a VerificationKey verifies signatures, a SigningKey makes them. Each has one
// fixed algorithm, which the caller names, and never a token.
//
//   auto key = VerificationKey::from_pem(Algorithm::es256, pem, "2026-11");
//   auto own = SigningKey::from_secret(Algorithm::hs256, secret);
//
// A public key cannot become the secret of an HMAC (RFC 8725 §2.1). Separate functions make the
// two, and each refuses the algorithms of the other.
//
// Owns       a share of the key; a copy costs a counter.
// Thread     any.
// Allocates  when it is made; then as signer.hpp says.
// Fails      The makers return an Error for a malformed key, and for one that does not fit the
//            algorithm. A key is too short below 2048 bits (RSA) or the hash size (secret). It is
//            too long above 8192 bits (RSA) or 1024 bytes (secret).
// Invariant  a secret or private part is overwritten when its last share is destroyed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/signer.hpp"

namespace katana::jose {

// The smallest modulus (RFC 7518 §3.3).
inline constexpr int rsa_bits_min = 2048;
// The largest modulus: a longer one costs milliseconds for each token.
inline constexpr int rsa_bits_max = 8192;
// The largest secret, in bytes.
inline constexpr std::size_t secret_bytes_max = 1024;

// Verifies signatures.
class VerificationKey {
 public:
  // Reads a public key as PEM (`BEGIN PUBLIC KEY`). `id` is the `kid` of tokens; empty: any.
  static Result<VerificationKey> from_pem(Algorithm algorithm, Bytes pem, std::string id = {});
  static Result<VerificationKey> from_secret(Algorithm algorithm, Bytes secret,
                                             std::string id = {});

  // The algorithm of the key.
  Algorithm algorithm() const noexcept { return signer_->algorithm(); }
  // Its `kid`; empty: it is tried for every `kid`.
  const std::string& id() const noexcept { return id_; }
  // True if the signature is right for the bytes; one of another size is wrong.
  bool verify(Bytes input, Bytes signature) const { return signer_->verify(input, signature); }

  // The key of OpenSSL, valid as long as this object; null for a secret.
  EVP_PKEY* native() const noexcept { return signer_->key(); }
  // The public key as a JWK (RFC 7517) with `kid`, `alg` and `use`. REQUIRES no secret.
  std::string jwk() const;
  // The SHA-256 of the key's required members, as base64url (RFC 7638 §3).
  std::string thumbprint() const;

 private:
  friend class SigningKey;
  friend class JwkReader;
  VerificationKey(std::shared_ptr<const detail::Signer> signer, std::string id)
      : signer_(std::move(signer)), id_(std::move(id)) {}

  std::shared_ptr<const detail::Signer> signer_;
  std::string id_;
};

// Makes signatures.
class SigningKey {
 public:
  // Reads a private key as PEM without a password (`BEGIN PRIVATE KEY`).
  static Result<SigningKey> from_pem(Algorithm algorithm, Bytes pem, std::string id = {});
  // Refuses a secret that looks like a password (RFC 8725 §3.5). Such a secret has few different
  // bytes, repeats itself, has spaces, or is text of one kind of character. Use random bytes.
  // Private JWKs have the same rule.
  static Result<SigningKey> from_secret(Algorithm algorithm, Bytes secret, std::string id = {});

  // The algorithm of the key.
  Algorithm algorithm() const noexcept { return signer_->algorithm(); }
  // The `kid` of signed tokens; empty: they have none.
  const std::string& id() const noexcept { return id_; }
  // Returns the signature. That of ECDSA is r and s, each with all its bytes (RFC 7518 §3.4).
  Result<std::string> sign(Bytes input) const;
  // The key that verifies the signatures. For a secret it is the secret itself.
  VerificationKey verification_key() const { return VerificationKey(signer_, id_); }

 private:
  friend class JwkReader;
  SigningKey(std::shared_ptr<const detail::Signer> signer, std::string id)
      : signer_(std::move(signer)), id_(std::move(id)) {}

  std::shared_ptr<const detail::Signer> signer_;
  std::string id_;
};

namespace detail {

// Both check first that key and algorithm fit.
Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, OwnedKey key,
                                                  bool has_private_part);
// `signs`: the secret makes signatures, and may not look like a password.
Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, Bytes secret, bool signs);

}  // namespace detail
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
