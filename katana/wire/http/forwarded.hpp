// Forwarded: the client address, the scheme and the host of a request, as the proxies in front of
// the server report them. The headers are Forwarded (RFC 7239), or X-Forwarded-For, -Proto and
// -Host.
//
// Each proxy appends the address that it was reached from. Therefore the fields are read from the
// right. The other side of the connection wrote the last element, which counts if that side is
// trusted. The address in this element wrote the element before it, and so on. The right-most
// address that is not trusted is the client. The elements left of it are the client's claim and are
// never read. Therefore a client cannot make the field malformed for the proxies behind it.
//
// A proxy passes on a header that it does not write as the client sent it. Therefore only the
// headers that the rules name are read: one family, and of it the parts that the proxies write in
// every request. X-Forwarded-Port, -Prefix, -Server and the like are never read.
//
// Owns       a result owns its address.
// Borrows    the head; a result's host lies in it.
// Thread     any.
// Allocates  never.
// Fails      is_malformed: an element of a trusted proxy breaks the grammar, or there are elements
//            of more than hops_max proxies. The result has the facts that were read until then.
// Invariant  no byte left of the client's element has any influence, nor has a part that the rules
//            do not name.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/network.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http {

// Which fields are read; the others mean nothing.
enum class ForwardedFields : std::uint8_t { none, forwarded, x_forwarded };

// The scheme of a request.
enum class Scheme : std::uint8_t {
  http,   // in the clear
  https,  // by TLS
};
// The name of the scheme, as in a URL.
constexpr Bytes name_of(Scheme scheme) noexcept {
  return scheme == Scheme::https ? Bytes("https") : Bytes("http");
}

// A part of a request that proxies report.
enum class ForwardedPart : std::uint8_t {
  client,  // for=, X-Forwarded-For
  proto,   // proto=, X-Forwarded-Proto
  host,    // host=, X-Forwarded-Host
};

// The parts that every proxy overwrites in every request. The other parts are the client's claim,
// and are not read. Every proxy passes Host on: `host` is rarely needed.
struct ForwardedParts {
  bool client = true;  // the address of the client
  bool proto = true;   // the scheme that the client used
  bool host = false;   // the Host that the client sent
  // The part is read from now on.
  constexpr void add(ForwardedPart part) noexcept {
    (part == ForwardedPart::client ? client : part == ForwardedPart::proto ? proto : host) = true;
  }
};

// Most that ForwardedRules::hops_max may be.
inline constexpr unsigned forwarded_hops_max = 100;

// The rules by which the headers of proxies are read.
struct ForwardedRules {
  ForwardedFields fields = ForwardedFields::none;  // those that the proxies set
  unsigned hops_max = 16;  // proxies that are believed in one request, at most forwarded_hops_max
  ForwardedParts parts = {};  // which parts are believed
};

// One end of a connection (RFC 7239 §6).
struct ForwardedNode {
  std::optional<IpAddress> address;   // none: unknown, or obfuscated
  std::optional<std::uint16_t> port;  // none: not given, or obfuscated
  friend bool operator==(const ForwardedNode&, const ForwardedNode&) noexcept = default;
};

// Reads a node (RFC 7239 §6). Nothing for a text that is no node. `bare_v6`: an IPv6 address may
// stand without brackets, as in X-Forwarded-For.
std::optional<ForwardedNode> parse_forwarded_node(Bytes text, bool bare_v6) noexcept;

// The facts that were read from the headers.
struct Forwarding {
  ForwardedNode client;          // no address: the client is the other side of the connection
  std::optional<Scheme> scheme;  // none: not given
  Bytes host;                    // an authority; empty: not given
  unsigned hops = 0;             // elements that were believed
  bool is_malformed = false;     // the elements that are left out were wrong, or too many
};

// REQUIRES that the other side of the connection is trusted.
Forwarding read_forwarding(const Head& head, const ForwardedRules& rules,
                           const NetworkSet& trusted) noexcept;

// Whether a proxy, configured or not, has left a trace in the request. Traces are Forwarded, Via,
// X-Forwarded-* and the headers that balancers, tunnels and delivery networks add. No browser and
// no HTTP client adds one. A proxy may leave no trace: false does not rule out a proxy.
bool has_trace_of_proxy(const Head& head) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
