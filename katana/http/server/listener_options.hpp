// ListenerOptions: one further listener of a server, as options and configuration state it.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      check_listeners() and the start of the server name every mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace katana::server {

// Whether a connection begins with the header of the PROXY protocol (katana/net/proxy).
//   required   only trusted proxies may connect; the header names the address of the client
enum class ProxyProtocol : std::uint8_t { off, required };

// The versions of HTTP that a listener speaks. any: HTTP/1.1, and HTTP/2 if it is enabled. With TLS
// ALPN offers no other version. A connection that begins with another version gets a 505 (http1),
// or a GOAWAY (http2).
enum class HttpVersions : std::uint8_t { any, http1, http2 };

// The reactor that serves a connection.
//   connections   one with fewer connections than others (net/reactor/connection_balance.hpp)
//   kernel        the reactor of the queue that the kernel has chosen, by a hash
enum class Balance : std::uint8_t { connections, kernel };

struct ListenerOptions {
  // Numeric, or "unix:PATH" for a Unix socket; see http/server/unix_socket.hpp.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the kernel chooses; of a Unix socket none
  // For a Unix socket: the access mode (octal) and the owner, as chown(1) takes it. The owner is
  // "USER", "USER:GROUP" or ":GROUP", with names or numbers. Empty: the user and the group of the
  // process.
  std::string mode = "0660";
  std::string owner = {};
  bool tls = false;  // uses the certificates of the server
  // Every request but those for /health and /ready is answered with 308, to the same path by https.
  // A request that a trusted proxy received by https is served.
  bool redirect_to_https = false;
  ProxyProtocol proxy_protocol = ProxyProtocol::off;
  HttpVersions versions = HttpVersions::any;
  // The port in the redirect; 0: that of the server's first listener, and 443 without TLS.
  std::uint16_t redirect_port = 0;
};

inline constexpr std::size_t listeners_max = 32;  // of one server, its first included
// The space in sun_path, without the byte that ends it (unix(7)).
inline constexpr std::size_t socket_path_bytes_max = 107;
inline constexpr std::string_view unix_prefix = "unix:";

// "unix:/run/app.sock".
inline bool is_unix(std::string_view address) noexcept { return address.starts_with(unix_prefix); }
// REQUIRES is_unix().
inline std::string unix_path(std::string_view address) {
  return std::string(address.substr(unix_prefix.size()));
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
