// ClientTlsOptions: which authorities a TLS client trusts, and its own certificate.
//
// Owns       names of files and texts; the files are read when a ClientContext is made.
// Thread     a value.
#pragma once

#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::tls {

struct ClientTlsOptions {
  // The authorities that this machine trusts (OpenSSL's default; SSL_CERT_FILE and SSL_CERT_DIR
  // move it).
  bool system_authorities = true;
  // And these besides, as PEM.
  std::string authorities_file = {};
  std::string authorities_text = {};
  // DANGEROUS: anyone between client and server can read and change everything. For tests on one
  // machine; your own server with its own certificate goes into authorities_file instead.
  bool dangerously_accept_any_certificate = false;
  Version version_min = Version::tls_1_2;
  // A connection to the same server goes on with what an earlier one has agreed on and verified
  // (RFC 5077, RFC 8446 §2.2), for so long after the certificate was looked at. Zero: never.
  Duration session_lifetime = seconds(3600);
  // Shown to servers that ask for one; without a chain: none is.
  Certificate certificate = {};
  // ALPN, the one that we like best first.
  std::vector<std::string> protocols = {"http/1.1"};
  std::string ciphers_1_2 = {};  // as in TlsOptions
  std::string ciphers_1_3 = {};
  std::string groups = {};
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
