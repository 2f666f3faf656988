// Aead: XAES-256-GCM, authenticated encryption whose nonces may be random without a count of the
// messages: AES-256-GCM under a key that AES-CMAC derives from the first half of a nonce of 192
// bits (NIST SP 800-108r1 and 800-38D, as C2SP's specification puts them together).
//
//   const Aead aead(key);
//   std::string sealed = aead.seal(plain, "cookie v1");
//   std::optional<std::string> opened = aead.open(sealed, "cookie v1");
//
// Owns       its key, overwritten in the end; OpenSSL keeps what it made of the last one of each
//            thread.
// Thread     any; a const Aead may be used by several at a time.
// Allocates  what is returned, once.
// Fails      open() gives nothing for whatever seal() did not make with this key and these
//            associated bytes, and does not say what is wrong with it.
// Invariant  2^80 messages of up to 64 GiB may be sealed with one key before the chance that two
//            have the same nonce is 2^-32.
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
  static constexpr std::size_t key_bytes = 32;    // what a key has, exactly
  static constexpr std::size_t nonce_bytes = 24;  // in front of the ciphertext
  static constexpr std::size_t tag_bytes = 16;    // behind it
  // What sealed text has more than its plain text.
  static constexpr std::size_t overhead_bytes = nonce_bytes + tag_bytes;

  // REQUIRES key_bytes bytes.
  explicit Aead(Bytes key);
  Aead(const Aead&) = default;
  Aead& operator=(const Aead&) = default;
  ~Aead();

  // The nonce, the ciphertext, the tag. `associated` is authenticated and not sent.
  std::string seal(Bytes plain, Bytes associated) const;
  std::optional<std::string> open(Bytes sealed, Bytes associated) const;

  // With a nonce of the caller's, of nonce_bytes, for vectors: one nonce used twice gives the
  // authentication key away.
  std::string seal_with(Bytes nonce, Bytes plain, Bytes associated) const;

 private:
  using Key = std::array<unsigned char, key_bytes>;
  Key derive(Bytes nonce) const noexcept;

  std::uint64_t number_;  // of the key: copies have it as well
  Key key_;
  std::array<unsigned char, 16> subkey_;  // K1 of CMAC (SP 800-38B §6.1)
};

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
