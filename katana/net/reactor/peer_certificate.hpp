// PeerCertificate: the verified certificate of the other side, as texts.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as std::string does.
// Fails      never.
// Invariant  names have printable characters only; a name with others is left out.
#pragma once

#include <string>
#include <vector>

namespace katana::net {

struct PeerCertificate {
  std::string subject = {};  // RFC 4514: "CN=ann,O=Example"
  // The same form for the issuer.
  std::string issuer = {};
  // Subject alternative names (RFC 5280 §4.2.1.6).
  std::vector<std::string> dns_names = {};
  std::vector<std::string> uris = {};
  std::vector<std::string> emails = {};
  std::string fingerprint = {};  // SHA-256 of the certificate, as 64 hexadecimal digits
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
