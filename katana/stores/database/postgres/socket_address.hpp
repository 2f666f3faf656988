// Addresses of sockets that net/engine does not have: abstract Unix sockets, and IPv6 with a zone.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  never.
// Fails      nothing is returned: the text is no such address.
// Source     unix(7), "Abstract sockets"; RFC 4007 §11
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"

namespace katana::database::postgres {

// An address for connect(2).
struct SocketAddress {
  sockaddr_storage storage = {};  // of a Unix socket, or of IPv6
  socklen_t size = 0;             // of what is used of it
};

// The address of a Unix socket. A '@' in front: an abstract one, which is in no folder.
std::optional<SocketAddress> unix_address(const std::string& path) noexcept;
// "fe80::1%eth0": the interface says which of the links is meant.
std::optional<SocketAddress> zoned_address(const std::string& address, std::uint16_t port) noexcept;

// A socket that never blocks, and that connects to the address. The Error has the name.
katana::Result<int> connect_to(const std::optional<SocketAddress>& address,
                               const std::string& name);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
