// Identity: a certificate with its chain and its private key, read and checked.
//
// Owns       both.
// Thread     a value; const use from any.
// Allocates  at load.
// Fails      load_identity() names the file, its mistake, and the remedy.
// Invariant  the key is the certificate's.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/openssl.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::tls {

struct Identity {
  OwnedCertificate certificate;         // the first in the file
  std::vector<OwnedCertificate> chain;  // those that follow it in the file
  OwnedKey key;                         // its private key
  std::string source;                   // the file, as errors and notes name it
  // The DNS names of the certificate, in lower case; "*.example.org" is one. Without any, its
  // common name.
  std::vector<std::string> names;
};

// Adds warnings to `notes`: about validity dates and a chain in the wrong order.
Result<Identity> load_identity(const Certificate& files, std::vector<std::string>& notes);

// Reads a whole file as text. An Error names the file and the reason, and says what `what` should
// be.
Result<std::string> read_file(const std::string& file, const char* what);

// Reads every certificate of a PEM text. Errors call it `source`.
Result<std::vector<OwnedCertificate>> read_certificates(Bytes text, const std::string& source);

// Lower-cases ASCII, because names are compared without regard to case (RFC 4343).
std::string lower_case(Bytes text);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
