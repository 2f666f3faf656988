// ClientTlsOptions: the authorities that a TLS client trusts, and its own certificate.
//
// Owns       file names and texts; the files are read when a ClientContext is made.
// Thread     a value.
#pragma once

#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::tls {

struct ClientTlsOptions {
  // The authorities that this machine trusts (OpenSSL's default; SSL_CERT_FILE and SSL_CERT_DIR
  // override their location).
  bool system_authorities = true;
  // Further authorities, as PEM.
  std::string authorities_file = {};
  std::string authorities_text = {};
  // DANGEROUS: an attacker between client and server can read and change everything. For tests on
  // one machine; your own server with its own certificate goes into authorities_file instead.
  bool dangerously_accept_any_certificate = false;
  Version version_min = Version::tls_1_2;
  // The time after the check of the certificate in which later connections to the same server may
  // resume the session (RFC 5077, RFC 8446 §2.2). Zero: never.
  Duration session_lifetime = seconds(3600);
  // The client certificate for servers that ask for one; without a chain: none.
  Certificate certificate = {};
  // ALPN, in the order of preference.
  std::vector<std::string> protocols = {"http/1.1"};
  std::string ciphers_1_2 = {};  // as in TlsOptions
  std::string ciphers_1_3 = {};
  std::string groups = {};
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
