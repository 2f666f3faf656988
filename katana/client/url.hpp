// Url: the origin and the target of a request.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_url() names the URL, what is wrong with it, and the expected form.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"

namespace katana::client {

// Connections to the same origin serve the same requests (RFC 9110 §4.3.1).
struct Origin {
  bool secure = false;
  std::string host;  // in lower case, without brackets
  std::uint16_t port = 0;
  bool operator==(const Origin&) const = default;
  std::string text() const;  // "https://example.org:443"
};

struct Url {
  Origin origin;
  std::string authority;  // the value of Host: without the scheme's default port
  std::string target;     // path and query; a fragment is not sent
};

// http://host[:port][/path][?query], or https.
Result<Url> parse_url(Bytes text);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
