// Endpoints: what an engine is made with, where it listens and connects, and who is at the other
// end. The values alone, for headers that have options and need no engine.
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
  // Of all links together in one turn; for io_uring, which has to have the room before it asks the
  // kernel. Further input comes a turn later. 0: from links_max.
  std::size_t receive_bytes_per_turn = 0;
};

// Where and how an engine listens.
struct ListenOptions {
  std::string address = "127.0.0.1";  // numeric IPv4 or IPv6
  std::uint16_t port = 0;             // 0: the kernel chooses; see Engine::port()
  // Connections that wait to be accepted; the kernel caps it (net.core.somaxconn).
  int backlog = 4096;
  // Deliver a connection only when its first bytes are here (TCP_DEFER_ACCEPT), so that accept,
  // read, write and close are all the system calls of a short connection. Off for protocols in
  // which the server speaks first.
  bool peer_speaks_first = true;
  // A listening socket that was opened by somebody else, and goes on when this server ends: what
  // waits in its queue then is for its next owner. A copy of it is used; address, port and backlog
  // are not looked at. -1: none.
  int socket = -1;
  // With `socket`: what waits in its queue at the end is accepted, as of our own listener. For
  // callers that made sure that no client can connect any more.
  bool drain_socket = false;
  // Refuse a port on which another process listens already. The reactors after the first share it
  // on purpose.
  bool must_be_free = true;
};

// Where an engine connects to.
struct ConnectOptions {
  // Numeric IPv4 or IPv6; or the path of a Unix-domain socket, which begins with '/', and then the
  // port is not looked at.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  // A client or server that is gone without a word, with its machine or the way to it, breaks the
  // connection after so long, whether something is on its way to it or not. In seconds, from 2;
  // zero: when the kernel sees fit, which takes a quarter of an hour, and for an idle connection
  // two hours.
  Duration vanished_after = {};
};

// As ConnectOptions::address has it.
inline bool is_path(const std::string& address) noexcept { return address.starts_with('/'); }

// Numeric address and port, as in "127.0.0.1:5000" or "[::1]:5000", or "unix:uid=1000"; empty when
// unknown.
struct PeerAddress {
  std::array<char, 64> text{};  // not null-terminated
  std::uint8_t size = 0;
  Bytes bytes() const noexcept { return {text.data(), size}; }  // empty: unknown
};

// The other end of a connection, as the kernel names it. `none`: unknown; `local`: a process of
// this machine, by a Unix-domain socket, known by the user that it ran as when it connected.
struct PeerEndpoint {
  // What kind of address it is.
  enum class Family : std::uint8_t { none, v4, v6, local };

  // In the order of the network; of v4 the first four, of local the user's id in them.
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  Family family = Family::none;

  // For a client that a proxy named; port 0: not known.
  static PeerEndpoint of(const IpAddress& address, std::uint16_t port) noexcept;
  // None for the other families.
  std::optional<IpAddress> ip() const noexcept;
  // As inet_ntop() and RFC 5952 write it, without a port that is 0; of local "unix:uid=1000".
  PeerAddress text() const noexcept;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
