// Aead: XAES-256-GCM, authenticated encryption with random nonces and without a count of messages.
// It is AES-256-GCM under a key that AES-CMAC derives from the first half of a nonce of 192 bits.
// C2SP's specification combines NIST SP 800-108r1 and 800-38D in this way.
//
//   const Aead aead(key);
//   std::string sealed = aead.seal(plain, "cookie v1");
//   std::optional<std::string> opened = aead.open(sealed, "cookie v1");
//
// Owns       its key, which the destructor overwrites. OpenSSL keeps the context of the key that
//            each thread used last.
// Thread     any; several threads may use a const Aead at once.
// Allocates  the returned text, once.
// Fails      open() gives nothing for text that seal() did not make with this key and these
//            associated bytes. It does not tell the reason.
// Invariant  one key may seal 2^80 messages of up to 64 GiB each. The chance that two of them have
//            the same nonce is then 2^-32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::crypto {

class Aead {
 public:
  static constexpr std::size_t key_bytes = 32;    // exact size of a key
  static constexpr std::size_t nonce_bytes = 24;  // in front of the ciphertext
  static constexpr std::size_t tag_bytes = 16;    // behind it
  // The number of bytes by which sealed text is longer than its plain text.
  static constexpr std::size_t overhead_bytes = nonce_bytes + tag_bytes;

  // REQUIRES a key of key_bytes bytes.
  explicit Aead(Bytes key);
  Aead(const Aead&) = default;
  Aead& operator=(const Aead&) = default;
  ~Aead();

  // Returns the nonce, the ciphertext and the tag. `associated` is authenticated but not included.
  std::string seal(Bytes plain, Bytes associated) const;
  std::optional<std::string> open(Bytes sealed, Bytes associated) const;

  // Seals with the caller's nonce of nonce_bytes bytes, for test vectors. A nonce that is used
  // twice reveals the authentication key.
  std::string seal_with(Bytes nonce, Bytes plain, Bytes associated) const;

 private:
  using Key = std::array<unsigned char, key_bytes>;
  Key derive(Bytes nonce) const noexcept;

  std::uint64_t number_;  // identifies the key; copies have the same number
  Key key_;
  std::array<unsigned char, 16> subkey_;  // K1 of CMAC (SP 800-38B §6.1)
};

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
