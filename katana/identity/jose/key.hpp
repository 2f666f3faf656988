// Keys of tokens: a VerificationKey judges signatures, a SigningKey makes them. Either has one
// algorithm for ever, which its maker names, never a token.
//
//   auto key = VerificationKey::from_pem(Algorithm::es256, pem, "2026-11");
//   auto own = SigningKey::from_secret(Algorithm::hs256, secret);
//
// A public key cannot become the secret of an HMAC, because each is made by its own function
// that refuses the other's algorithms (RFC 8725 §2.1).
//
// Owns       a share of the key; a copy costs a counter.
// Thread     any.
// Allocates  when it is made; then what signer.hpp says.
// Fails      made of what is malformed, too short (RSA below 2048 bits, a secret shorter than its
//            hash), too long (RSA above 8192 bits, a secret above 1024 bytes) or unfit for the
//            algorithm: an error that says which.
// Invariant  a secret or private part is overwritten when the last share of it goes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/signer.hpp"

namespace katana::jose {

// Of a modulus (RFC 7518 §3.3).
inline constexpr int rsa_bits_min = 2048;
// For a modulus: a longer one costs milliseconds for each token.
inline constexpr int rsa_bits_max = 8192;
// Of a secret, in bytes.
inline constexpr std::size_t secret_bytes_max = 1024;

// Judges signatures.
class VerificationKey {
 public:
  // PEM of a public key (`BEGIN PUBLIC KEY`). `id`: what the `kid` of tokens says; empty: any.
  static Result<VerificationKey> from_pem(Algorithm algorithm, Bytes pem, std::string id = {});
  static Result<VerificationKey> from_secret(Algorithm algorithm, Bytes secret,
                                             std::string id = {});

  // The one that it is used with.
  Algorithm algorithm() const noexcept { return signer_->algorithm(); }
  // Its `kid`; empty: any token may mean it.
  const std::string& id() const noexcept { return id_; }
  // Whether the bytes were signed so; a signature of another size is wrong.
  bool verify(Bytes input, Bytes signature) const { return signer_->verify(input, signature); }

  // OpenSSL's, for as long as this lives; null: a secret.
  EVP_PKEY* native() const noexcept { return signer_->key(); }
  // The public key as a JWK (RFC 7517) with `kid`, `alg` and `use`. REQUIRES no secret.
  std::string jwk() const;
  // base64url of the SHA-256 of the key's required members (RFC 7638 §3).
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
  // PEM of a private key without password (`BEGIN PRIVATE KEY`).
  static Result<SigningKey> from_pem(Algorithm algorithm, Bytes pem, std::string id = {});
  static Result<SigningKey> from_secret(Algorithm algorithm, Bytes secret, std::string id = {});

  // The one that it is used with.
  Algorithm algorithm() const noexcept { return signer_->algorithm(); }
  // The `kid` of what it signs; empty: none is said.
  const std::string& id() const noexcept { return id_; }
  // The bytes of a signature; of ECDSA r and s, each with all its bytes (RFC 7518 §3.4).
  Result<std::string> sign(Bytes input) const;
  // What verifies: of a secret the secret itself.
  VerificationKey verification_key() const { return VerificationKey(signer_, id_); }

 private:
  friend class JwkReader;
  SigningKey(std::shared_ptr<const detail::Signer> signer, std::string id)
      : signer_(std::move(signer)), id_(std::move(id)) {}

  std::shared_ptr<const detail::Signer> signer_;
  std::string id_;
};

namespace detail {

// Both judge first whether key and algorithm fit.
Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, OwnedKey key,
                                                  bool has_private_part);
Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, Bytes secret);

}  // namespace detail
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
