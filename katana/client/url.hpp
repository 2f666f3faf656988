// Url: where a request goes, and what it asks for there.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_url() names the URL, what is wrong with it, and what one looks like.
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
  std::string authority;  // as it goes into Host: without the port that the scheme implies
  std::string target;     // path and query; a fragment is not sent
};

// http://host[:port][/path][?query], or https.
Result<Url> parse_url(Bytes text);

}  // namespace katana::client
