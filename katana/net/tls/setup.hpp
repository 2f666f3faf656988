// Settings of contexts of both sides: algorithms, an identity, names of protocols.
//
// Owns       nothing.
// Thread     any.
// Fails      with an Error that names the option or the file, and the remedy.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/identity.hpp"
#include "katana/net/tls/openssl.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::tls {

// Algorithms in OpenSSL's notation; an empty one has our default.
struct Algorithms {
  std::string ciphers_1_2;  // of TLS 1.2, separated by colons
  std::string ciphers_1_3;  // of TLS 1.3, separated by colons
  std::string groups;       // key exchange groups, separated by colons
};

// Sets the algorithms and the oldest version, and turns off compression and renegotiation. An idle
// connection keeps no record buffers, and no session is remembered.
Result<void> set_up(SSL_CTX& context, Version version_min, const Algorithms& algorithms);

// Sets the certificate, its chain and its key.
Result<void> use_identity(SSL_CTX& context, const Identity& identity);

// Encodes the names as they are sent: each with its length in front (RFC 7301 §3.1).
Result<std::string> encode_protocols(const std::vector<std::string>& protocols);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
