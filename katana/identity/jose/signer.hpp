// Signer: one key with its one algorithm, and its OpenSSL contexts. VerificationKey and SigningKey
// are built on it.
//
// Owns       the key, and at most one idle context for each of 16 groups of threads.
// Thread     any.
// Allocates  a context when a thread has no idle one. OpenSSL may allocate in each call.
// Fails      verify() is false, and sign() is empty, if OpenSSL refuses. That does not happen with
//            a valid key.
// Invariant  a key is used only with its algorithm (RFC 8725 §3.1). Calls leave the error queue of
//            OpenSSL empty.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/jose/algorithm.hpp"
#include "katana/identity/jose/openssl.hpp"

namespace katana::jose::detail {

class Signer {
 public:
  // REQUIRES a key that fits the algorithm.
  Signer(Algorithm algorithm, OwnedKey key, bool has_private_part);
  // REQUIRES HMAC.
  Signer(Algorithm algorithm, SecretText secret);
  ~Signer();
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  Algorithm algorithm() const noexcept { return algorithm_; }
  bool verify(Bytes input, Bytes signature) const;
  std::string sign(Bytes input) const;
  EVP_PKEY* key() const noexcept { return key_.get(); }
  const SecretText& secret() const noexcept { return secret_; }

 private:
  struct Contexts;
  class Borrowed;

  std::unique_ptr<Contexts> make_contexts() const;
  std::unique_ptr<Contexts> take() const;
  void give(std::unique_ptr<Contexts> contexts) const noexcept;
  std::string mac_of(Bytes input, Contexts& with) const;

  struct alignas(64) Slot {
    std::atomic<Contexts*> idle = nullptr;
  };
  const Algorithm algorithm_;
  const OwnedKey key_;
  const SecretText secret_;
  const bool has_private_part_;
  mutable std::array<Slot, 16> slots_;
};

}  // namespace katana::jose::detail

// SPDX-License-Identifier: Apache-2.0
