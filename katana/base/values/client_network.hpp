// The network of a client: the part of an address that one subscriber has, by which limits count.
// One subscriber of IPv6 has at least 2^64 addresses (RFC 6177), so a limit that counts whole
// addresses has no effect.
//
//   client_network(address)             192.0.2.1 as it is; of 2001:db8:1:2::5 the first 64 bits
//   client_network_text("[::1]:5000")   the same of a text, with or without a port
//
// Owns       nothing.
// Thread     any.
// Allocates  never, but for texts.
// Fails      never: a text that is no address stands for itself.
// Invariant  an IPv4 address is one client in each form that it comes in: as itself, mapped
//            (RFC 4291 §2.5.5.2), behind a translator (64:ff9b::/96, RFC 6052 §2.1), and as 6to4
//            (2002::/16, RFC 3056 §2). Therefore all that counts clients agrees who they are.
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/ip_address.hpp"

namespace katana {

// How many bits of an address make a client.
struct ClientBits {
  unsigned v4 = 32;  // leading bits kept of an IPv4 address, 0 to 32
  unsigned v6 = 64;  // leading bits kept of an IPv6 address, 0 to 128
};

// The result clears the other bits. An IPv6 address that NAT64 or 6to4 made of an IPv4 address
// counts as IPv4.
IpAddress client_network(const IpAddress& address, const ClientBits& bits = {}) noexcept;
// "192.0.2.1", "192.0.2.1:5000", "2001:db8::1", "[2001:db8::1]:5000" as RFC 5952 writes their
// networks; "unix:uid=1000" and other texts as they are.
Text client_network_text(Bytes text, const ClientBits& bits = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
