// Server: where a server is: a host and a port, or a Unix-domain socket.
//
// Owns       its texts.
// Thread     a value.
// Fails      parse_server() names the text, what is wrong with it, and the expected form.
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
  std::uint16_t port = 0;  // of a path: 0
  // What its certificate has to be for; empty: `host`.
  std::string certificate_name = {};

  // A Unix-domain socket: no name is looked up.
  bool is_path() const noexcept { return host.starts_with('/'); }
  // host:port, [v6]:port, or the path.
  std::string text() const;
  friend bool operator==(const Server&, const Server&) noexcept = default;
};

// As text() has it; the port may be missing, and then it is `port_implied`.
Result<Server> parse_server(Bytes text, std::uint16_t port_implied);

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
