// Url: the origin and the target of a request.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_url() names the URL, the mistake in it, and the expected form.
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

// True for localhost, a name below it (RFC 6761 §6.3), and loopback addresses: what is sent there
// stays on this machine.
bool is_this_machine(const Origin& origin) noexcept;

struct Url {
  Origin origin;          // where connections go to
  std::string authority;  // the value of Host: without the scheme's default port
  std::string target;     // path and query; a fragment is not sent
};

// Returns the URL for logs and errors, cut to `bytes_max` bytes. The password is left out. "***"
// replaces the value of each parameter with the name of a credential (wire/http/secret_names.hpp).
std::string shown_url(Bytes url, std::size_t bytes_max = 500);

// Parses http://host[:port][/path][?query], or the same with https.
Result<Url> parse_url(Bytes text);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
