// PeerCertificate: the certificate that a peer has shown and that was verified, as texts.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as std::string does.
// Fails      never.
// Invariant  names have only characters that can be printed: one with others is left out.
#pragma once

#include <string>
#include <vector>

namespace katana::net {

struct PeerCertificate {
  std::string subject = {};  // RFC 4514: "CN=ann,O=Example"
  // The same of who has signed it.
  std::string issuer = {};
  // Subject alternative names (RFC 5280 §4.2.1.6).
  std::vector<std::string> dns_names = {};
  std::vector<std::string> uris = {};
  std::vector<std::string> emails = {};
  std::string fingerprint = {};  // SHA-256 of all of it, as 64 hexadecimal digits
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
