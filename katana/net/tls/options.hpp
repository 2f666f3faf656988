// TlsOptions: the settings of a listener that speaks TLS.
//
// Owns       file names and texts; Credentials reads the files, and reads them again at each
//            reload.
// Thread     a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::tls {

// A certificate and its private key, as PEM: in files, or as text if the name of the file is empty.
struct Certificate {
  std::string chain_file = {};  // the server's certificate first, then its chain towards the root
  std::string key_file = {};    // without a pass phrase
  std::string chain_text = {};
  std::string key_text = {};
};

// The oldest version that is accepted. tls_1_2: RFC 5246. tls_1_3: RFC 8446.
enum class Version : std::uint8_t { tls_1_2, tls_1_3 };

struct TlsOptions {
  // Chosen by the name that the client asks for (SNI): the DNS names in the certificate, exact or
  // "*.example.org". The first answers for all other names. Two certificates with different key
  // types (ECDSA and RSA) and the same names form a pair: the client's abilities decide.
  std::vector<Certificate> certificates = {};
  // Adds a self-signed certificate for "localhost" and `development_names`. It is made when the
  // server starts, and never written anywhere.
  bool development = false;
  std::vector<std::string> development_names = {};
  // Refuses clients that ask for a name that no certificate has, instead of showing the first one.
  bool names_must_match = false;
  Version version_min = Version::tls_1_2;
  // ALPN, in the order of preference. A client that offers only others is refused (RFC 7301).
  std::vector<std::string> protocols = {"http/1.1"};
  // Clients must show a certificate that one of these authorities (PEM) has signed. Empty: the
  // server asks for none.
  std::string client_authorities_file = {};
  std::string client_authorities_text = {};
  // With authorities: a client without a certificate is served, too.
  bool client_certificate_optional = false;
  // The ciphers of TLS 1.2, in OpenSSL's notation. Empty: those with forward secrecy and
  // authenticated encryption.
  std::string ciphers_1_2 = {};
  std::string ciphers_1_3 = {};  // empty: the three of RFC 8446 that are not for small devices
  std::string groups = {};       // for the key exchange; empty: X25519, P-256, P-384
  // How long one key seals the tickets by which clients resume a session. Zero: no tickets.
  Duration ticket_lifetime = seconds(12 * 3600);
  // The reply to a client that speaks HTTP without TLS, instead of an alert. Empty: none.
  std::string reply_to_plain_http = {};
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
