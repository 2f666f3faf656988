// Url: the origin and the target of a request.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_url() names the URL, what is wrong with it, and the expected form.
// Invariant  no error shows a credential that a URL has.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::client {

// Connections to the same origin serve the same requests (RFC 9110 §4.3.1).
struct Origin {
  bool secure = false;     // https
  std::string host;        // in lower case, without brackets
  std::uint16_t port = 0;  // of the URL, or the default: 80, 443
  bool operator==(const Origin&) const = default;
  std::string text() const;  // "https://example.org:443"
};

struct Url {
  Origin origin;          // where connections go to
  std::string authority;  // the value of Host: without the scheme's default port
  std::string target;     // path and query; a fragment is not sent
};

// The URL for logs and errors: without a password in it, with "***" for the values of parameters
// that have the name of a credential (wire/http/secret_names.hpp), and of `bytes_max` at most.
std::string shown_url(Bytes url, std::size_t bytes_max = 500);

// http://host[:port][/path][?query], or https.
Result<Url> parse_url(Bytes text);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
