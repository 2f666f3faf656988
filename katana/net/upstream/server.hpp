// Server: the place of a server: a host and a port, or a Unix-domain socket.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_server() names the text, its mistake, and the expected form.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::upstream {

struct Server {
  // A name, a numeric address without brackets, or the path of a Unix-domain socket, which begins
  // with '/'.
  std::string host = {};
  std::uint16_t port = 0;  // 0 with a path
  // The name that its certificate must have; empty: `host`.
  std::string certificate_name = {};

  // A Unix-domain socket: no name is looked up.
  bool is_path() const noexcept { return host.starts_with('/'); }
  // host:port, [v6]:port, or the path.
  std::string text() const;
  friend bool operator==(const Server&, const Server&) noexcept = default;
};

// Parses the form of text(). A missing port becomes `port_implied`.
Result<Server> parse_server(Bytes text, std::uint16_t port_implied);

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
