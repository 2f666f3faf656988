// Digests (FIPS 180-4), HMAC (RFC 2104), HKDF (RFC 5869) and PBKDF2 (RFC 8018), with the SHA-2 of
// OpenSSL.
//
//   const Sha256 id = crypto::sha256(token);
//   const crypto::Hmac chain(crypto::Hash::sha256, key);
//   const SecretText sealing = crypto::hkdf(crypto::Hash::sha256, secret, "", "cookies", 32);
//
// Owns       Hmac the two hash states that its key makes, and no copy of the key.
// Thread     any; several threads may use a const Hmac at once.
// Allocates  Hmac::of() twice from the heap, within OpenSSL; the rest the returned value.
// Fails      never: OpenSSL without SHA-2, or without memory, ends the process.
// Invariant  the input of a key derivation is overwritten before its memory is released.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"

struct evp_md_ctx_st;

namespace katana::crypto {

// sha1 serves only the HMAC of one-time passwords (RFC 6238): it does not resist collisions.
enum class Hash : std::uint8_t { sha256, sha384, sha512, sha1 };
// The size of the longest digest, SHA-512.
inline constexpr std::size_t digest_bytes_max = 64;
// The size in bytes of a digest of this hash.
constexpr std::size_t digest_bytes(Hash hash) noexcept {
  switch (hash) {
    case Hash::sha1: return 20;
    case Hash::sha256: return 32;
    case Hash::sha384: return 48;
    case Hash::sha512: break;
  }
  return 64;
}

// A digest as a value. The time of == may tell where two digests differ. For secrets use
// equal_in_constant_time().
template <std::size_t size>
struct DigestOctets {
  std::array<char, size> octets{};  // zeros until something is written

  // A view into it.
  Bytes bytes() const noexcept KATANA_VIEW { return {octets.data(), size}; }
  friend bool operator==(const DigestOctets&, const DigestOctets&) = default;
};
using Sha256 = DigestOctets<32>;  // of SHA-256
using Sha384 = DigestOctets<48>;  // of SHA-384
using Sha512 = DigestOctets<64>;  // of SHA-512

Sha256 sha256(Bytes octets) noexcept;  // FIPS 180-4 §6.2
Sha384 sha384(Bytes octets) noexcept;  // FIPS 180-4 §6.5
Sha512 sha512(Bytes octets) noexcept;  // FIPS 180-4 §6.4

// A message authentication code. It is as long as the digest of its hash.
class Mac {
 public:
  // A view into it.
  Bytes bytes() const noexcept KATANA_VIEW { return {octets_.data(), size_}; }

 private:
  friend class Hmac;
  std::array<char, digest_bytes_max> octets_{};
  std::size_t size_ = 0;
};

// A keyed digest (RFC 2104). Without the key it can be neither made nor predicted.
class Hmac {
 public:
  // Takes a key of any size. A key longer than the hash's block is hashed first (RFC 2104 §3).
  Hmac(Hash hash, Bytes key);
  Hmac(Hmac&& other) noexcept = default;
  Hmac& operator=(Hmac&& other) noexcept = default;
  ~Hmac() = default;

  // The code of the whole message.
  Mac of(Bytes message) const noexcept;
  // Compares in constant time. A `mac` of another length does not match.
  bool matches(Bytes message, Bytes mac) const noexcept;

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  using Context = std::unique_ptr<evp_md_ctx_st, FreeContext>;

  Context inner_;
  Context outer_;
  Hash hash_;
};

// Derives a key of `size` bytes by extract and expand. REQUIRES at most 255 times the digest size.
SecretText hkdf(Hash hash, Bytes secret, Bytes salt, Bytes info, std::size_t size);

// Fills `key` by PBKDF2 (RFC 8018 §5.2). It is slow by intention: with SHA-256 some 0.4 µs for each
// iteration and each 32 bytes of the key. REQUIRES at least one iteration, and a key of at least
// one byte.
void pbkdf2(Hash hash, Bytes password, Bytes salt, std::uint32_t iterations,
            std::span<char> key) noexcept;

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
