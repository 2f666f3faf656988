// The network of a client: the part of its address that one customer of a provider has. Limits
// count by it. A customer has at least 2^64 addresses of IPv6 (RFC 6177). A limit that counts whole
// addresses therefore has no effect.
//
//   client_network(address)             192.0.2.1 unchanged; the first 64 bits of 2001:db8:1:2::5
//   client_network_text("[::1]:5000")   the same for text, with or without a port
//
// Owns       nothing.
// Thread     any.
// Allocates  only texts.
// Fails      never: text that is no address is returned unchanged.
// Invariant  an IPv4 address is the same client in each of its forms. They are the plain address,
//            the mapped one (RFC 4291 §2.5.5.2), that of a translator (64:ff9b::/96, RFC 6052
//            §2.1), and 6to4 (2002::/16, RFC 3056 §2). All limits therefore agree about clients.
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/ip_address.hpp"

namespace katana {

// The number of address bits that identify a client.
struct ClientBits {
  unsigned v4 = 32;  // leading bits kept of an IPv4 address, 0 to 32
  unsigned v6 = 64;  // leading bits kept of an IPv6 address, 0 to 128
};

// The address of the client with all other bits cleared. An IPv6 address that NAT64 or 6to4 made
// from an IPv4 address counts as IPv4.
IpAddress client_network(const IpAddress& address, const ClientBits& bits = {}) noexcept;
// The network of an address such as "192.0.2.1", "192.0.2.1:5000", "2001:db8::1" or
// "[2001:db8::1]:5000", in the form of RFC 5952. "unix:uid=1000" and other texts are unchanged.
Text client_network_text(Bytes text, const ClientBits& bits = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
