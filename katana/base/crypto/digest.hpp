// Digests (FIPS 180-4), HMAC (RFC 2104) and HKDF (RFC 5869), with OpenSSL's SHA-2.
//
//   const Sha256 id = crypto::sha256(token);
//   const crypto::Hmac chain(crypto::Hash::sha256, key);
//   const SecretText sealing = crypto::hkdf(crypto::Hash::sha256, secret, "", "cookies", 32);
//
// Owns       Hmac the two states that its key makes, and no copy of the key.
// Thread     any; a const Hmac may be used by several at a time.
// Allocates  Hmac::of() twice from the heap, within OpenSSL; the rest what is returned.
// Fails      never: OpenSSL without SHA-2, or without memory, ends the process.
// Invariant  what keys were derived from is overwritten before its memory is given back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"

struct evp_md_ctx_st;

namespace katana::crypto {

// sha1 is for HMAC alone, where one-time passwords ask for it (RFC 6238): it resists no collisions.
enum class Hash : std::uint8_t { sha256, sha384, sha512, sha1 };
// Of SHA-512.
inline constexpr std::size_t digest_bytes_max = 64;
// What a digest of this hash has.
constexpr std::size_t digest_bytes(Hash hash) noexcept {
  switch (hash) {
    case Hash::sha1: return 20;
    case Hash::sha256: return 32;
    case Hash::sha384: return 48;
    case Hash::sha512: break;
  }
  return 64;
}

// A digest as a value. It is compared in a time that may tell where two differ: for secrets take
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

// As many bytes as the hash has.
class Mac {
 public:
  // A view into it.
  Bytes bytes() const noexcept KATANA_VIEW { return {octets_.data(), size_}; }

 private:
  friend class Hmac;
  std::array<char, digest_bytes_max> octets_{};
  std::size_t size_ = 0;
};

// A keyed digest (RFC 2104): who has no key can neither make nor foretell it.
class Hmac {
 public:
  // A key of any size; one that is longer than the hash's block is hashed first (RFC 2104 §3).
  Hmac(Hash hash, Bytes key);
  Hmac(Hmac&& other) noexcept = default;
  Hmac& operator=(Hmac&& other) noexcept = default;
  ~Hmac() = default;

  // For the whole message.
  Mac of(Bytes message) const noexcept;
  // Compared in constant time. A shorter `mac` is a wrong one.
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

// Extract and expand. `size`: at most 255 digests (REQUIRE).
SecretText hkdf(Hash hash, Bytes secret, Bytes salt, Bytes info, std::size_t size);

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
