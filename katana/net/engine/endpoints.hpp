// Endpoints: the options of an engine, the addresses of its listeners and connections, and the
// address of the other side. These are plain values, for headers that have options and need no
// engine.
//
// Owns       values.
// Thread     values.
// Allocates  addresses that are text.
// Fails      never.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/ip_address.hpp"

namespace katana::engine {

// Position of a listener in the order of listen() calls.
using Listener = std::uint32_t;

// Sizes of an engine.
struct Options {
  std::uint32_t links_max = 16 * 1024;        // 1 … 2^24
  std::size_t receive_bytes_max = 64 * 1024;  // most bytes of one on_bytes()
  // The bytes that all links together receive in one turn. For io_uring, which reserves the room
  // before it asks the kernel. Further input arrives a turn later. 0: derived from links_max.
  std::size_t receive_bytes_per_turn = 0;
};

// Where and how an engine listens.
struct ListenOptions {
  std::string address = "127.0.0.1";  // numeric IPv4 or IPv6
  std::uint16_t port = 0;             // 0: the kernel chooses; see Engine::port()
  // Connections that wait to be accepted; the kernel caps it (net.core.somaxconn).
  int backlog = 4096;
  // Delivers a connection only when its first bytes are here (TCP_DEFER_ACCEPT). A short connection
  // then needs four system calls: accept, read, write and close. Off for protocols in which the
  // server speaks first.
  bool peer_speaks_first = true;
  // A listening socket that another process opened and that outlives this server. Connections that
  // wait in its queue at the end go to its next owner. A copy of the descriptor is used; address,
  // port and backlog are ignored. -1: none.
  int socket = -1;
  // With `socket`: accepts the connections that wait in the queue at the end, as with an own
  // listener. For callers that made sure that no client can connect any more.
  bool drain_socket = false;
  // Refuses a port on which another process listens already. The reactors after the first share the
  // port on purpose.
  bool must_be_free = true;
};

// Where an engine connects to.
struct ConnectOptions {
  // Numeric IPv4 or IPv6; or the path of a Unix-domain socket, which begins with '/'. The port is
  // ignored with a path.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  // The timeout for a client or server that vanished without a reset, with its machine or the
  // network path. It breaks the connection, whether data is in transit or not. In seconds, from 2.
  // Zero: the kernel's own limits, a quarter of an hour, and two hours for an idle connection.
  Duration vanished_after = {};
};

// Whether `address` is a path, as ConnectOptions::address defines it.
inline bool is_path(const std::string& address) noexcept { return address.starts_with('/'); }

// Numeric address and port, as in "127.0.0.1:5000" or "[::1]:5000", or "unix:uid=1000"; empty when
// unknown.
struct PeerAddress {
  std::array<char, 64> text{};  // not null-terminated
  std::uint8_t size = 0;
  Bytes bytes() const noexcept { return {text.data(), size}; }  // empty: unknown
};

// The other end of a connection, as the kernel names it. `none`: unknown. `local`: a process of
// this machine on a Unix-domain socket, known by its user id at the time of the connect.
struct PeerEndpoint {
  // The kind of the address.
  enum class Family : std::uint8_t { none, v4, v6, local };

  // In network byte order. v4 uses the first four bytes; local has the user id in them.
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  Family family = Family::none;

  // The endpoint of a client that a proxy named; port 0: not known.
  static PeerEndpoint of(const IpAddress& address, std::uint16_t port) noexcept;
  // Empty for the families none and local.
  std::optional<IpAddress> ip() const noexcept;
  // As inet_ntop() and RFC 5952 write it, without a port that is 0; for local "unix:uid=1000".
  PeerAddress text() const noexcept;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
