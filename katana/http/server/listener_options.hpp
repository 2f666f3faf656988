// ListenerOptions: one listener of a server beside its first, as options and configuration say it.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      check_listeners() names every mistake; so does the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace katana::server {

// Whether a connection begins with the header of the PROXY protocol (katana/net/proxy). required:
// it is accepted from trusted proxies alone, and its peer is whom they name.
enum class ProxyProtocol : std::uint8_t { off, required };

// Which versions of HTTP a listener speaks. any: HTTP/1.1, and HTTP/2 if it is enabled. With TLS
// ALPN offers no other; a connection that begins with another is answered 505 (http1), or told so
// in a GOAWAY (http2).
enum class HttpVersions : std::uint8_t { any, http1, http2 };

// Which reactor serves a connection. connections: one with fewer than others have (see
// net/reactor/connection_balance.hpp); kernel: the one whose queue the kernel has chosen, by a
// hash.
enum class Balance : std::uint8_t { connections, kernel };

struct ListenerOptions {
  // Numeric, or "unix:PATH" for a Unix socket; see http/server/unix_socket.hpp.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the kernel chooses; of a Unix socket none
  // For a Unix socket: who may connect (octal), and whose it is, as chown(1) takes it: "USER",
  // "USER:GROUP" or ":GROUP", names or numbers; empty: the user and the group of the process.
  std::string mode = "0660";
  std::string owner = {};
  bool tls = false;  // with the certificates of the server
  // Every request but those for /health and /ready is answered 308, to the same path by https;
  // served is what a trusted proxy has got by https.
  bool redirect_to_https = false;
  ProxyProtocol proxy_protocol = ProxyProtocol::off;
  HttpVersions versions = HttpVersions::any;
  // Named there; 0: that of the server's first listener, and without TLS 443.
  std::uint16_t redirect_port = 0;
};

inline constexpr std::size_t listeners_max = 32;  // of one server, its first included
// What sun_path has room for beside the byte that ends it (unix(7)).
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
