// TlsOptions: what a listener that speaks TLS is made of.
//
// Owns       names of files and texts; the files are read by Credentials, and again by each reload.
// Thread     a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::tls {

// A certificate and its private key, as PEM: in files, or as text if the name of the file is empty.
struct Certificate {
  std::string chain_file = {};  // the server's certificate first, then those that lead to the root
  std::string key_file = {};    // without a pass phrase
  std::string chain_text = {};
  std::string key_text = {};
};

// Oldest version that is accepted. tls_1_2: RFC 5246. tls_1_3: RFC 8446.
enum class Version : std::uint8_t { tls_1_2, tls_1_3 };

struct TlsOptions {
  // Chosen by the name that the client asks for (SNI): the DNS names in the certificate, exact or
  // "*.example.org". The first answers for all other names. Two of different key types with the
  // same names (ECDSA and RSA) go together: the client's abilities choose.
  std::vector<Certificate> certificates = {};
  // Besides, a certificate that signs itself, for "localhost" and these: made when the server
  // starts, never written anywhere.
  bool development = false;
  std::vector<std::string> development_names = {};
  // Clients that ask for a name no certificate has are refused, instead of getting the first.
  bool names_must_match = false;
  Version version_min = Version::tls_1_2;
  // ALPN, the one that we like best first. A client that offers only others is refused (RFC 7301).
  std::vector<std::string> protocols = {"http/1.1"};
  // Clients must show a certificate that one of these authorities (PEM) has signed. Empty: none is
  // asked for.
  std::string client_authorities_file = {};
  std::string client_authorities_text = {};
  // With authorities: a client without a certificate is served, too.
  bool client_certificate_optional = false;
  // Of TLS 1.2, as OpenSSL names them; empty: those with forward secrecy and authenticated
  // encryption.
  std::string ciphers_1_2 = {};
  std::string ciphers_1_3 = {};  // empty: all three of RFC 8446 that are not for small devices
  std::string groups = {};       // for the key exchange; empty: X25519, P-256, P-384
  // Tickets by which clients resume a session: for how long one key seals them. Zero: no tickets.
  Duration ticket_lifetime = seconds(12 * 3600);
  // Said, instead of an alert, to a client that speaks HTTP without TLS. Empty: nothing is.
  std::string reply_to_plain_http = {};
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
