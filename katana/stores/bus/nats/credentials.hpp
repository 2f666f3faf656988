// Credentials: the identity of a program at a NATS server. It is a user with a password, a token,
// an nkey, or the JWT of a .creds file.
//
// Owns       the secrets, in memory that is overwritten before it is given back.
// Thread     a value; sign() any.
// Allocates  its texts.
// Fails      read_… with an Error that names the file and the mistake in it, and shows nothing of
//            the secret.
// Source     docs.nats.io: nkeys are Ed25519 (RFC 8032) in base32 with a prefix and a CRC-16.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::bus {

// A seed of an nkey of a user: "SU…".
class NkeySeed {
 public:
  NkeySeed() = default;
  // 58 characters, with blanks around them or not. invalid_argument for any other nkey, too.
  static Result<NkeySeed> parse(Bytes text);

  bool empty() const noexcept { return seed_.empty(); }
  // "U…"
  Result<std::string> public_key() const;
  // The signature of the server's nonce, in base64 without padding.
  Result<std::string> sign(Bytes nonce) const;

 private:
  SecretText seed_;  // 32 bytes
};

// The credentials in CONNECT; empty members are left out.
struct Credentials {
  std::string user = {};     // empty: `password` is not sent either
  SecretText password = {};  // goes to the server as it is: wants TLS
  SecretText token = {};     // auth_token; goes as it is, too
  NkeySeed nkey = {};        // signs the server's nonce, and never leaves the process
  SecretText jwt = {};       // with `nkey`, which proves it
};

// A seed alone.
Result<NkeySeed> read_nkey_file(const std::string& path);
// A JWT and a seed, each between lines of dashes, as `nsc` writes it.
Result<Credentials> read_creds_file(const std::string& path);

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
