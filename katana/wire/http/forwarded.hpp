// Forwarded: who a request comes from, and by which scheme and host it was asked for, as the
// proxies in front of the server say it: Forwarded (RFC 7239), or X-Forwarded-For, -Proto and
// -Host.
//
// Each proxy writes the address that it was reached from behind what came. Therefore the fields are
// read from the right: the last element is the word of the peer, and is believed if the peer is
// trusted; the one before it is the word of the address that this one names, and so on. The
// right-most address that is not trusted is the client, and what stands left of it is its own
// claim, which is not read at all: a client cannot make the field malformed for those who wrote
// behind it.
//
// A header that a proxy does not write is passed on as the client sent it. Therefore nothing is
// read but what the rules name: one family of headers, and of it the parts that the proxies write
// in every request. X-Forwarded-Port, -Prefix, -Server and the like are never read.
//
// Owns       a result its address.
// Borrows    the head; a result's host lies in it.
// Thread     any.
// Allocates  never.
// Fails      is_malformed: what a trusted proxy said breaks the grammar, or more proxies than
//            hops_max have said something. The result is what was known until then.
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

// By which a request was made.
enum class Scheme : std::uint8_t {
  http,   // in the clear
  https,  // by TLS
};
// As in a URL.
constexpr Bytes name_of(Scheme scheme) noexcept {
  return scheme == Scheme::https ? Bytes("https") : Bytes("http");
}

// A part of what proxies say.
enum class ForwardedPart : std::uint8_t {
  client,  // for=, X-Forwarded-For
  proto,   // proto=, X-Forwarded-Proto
  host,    // host=, X-Forwarded-Host
};

// Those that every proxy writes in every request, over what its client sent; the others are the
// client's word, and are not read. Every proxy passes Host on, so that `host` is rarely needed.
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

// How what proxies say is read.
struct ForwardedRules {
  ForwardedFields fields = ForwardedFields::none;  // those that the proxies set
  unsigned hops_max = 16;  // proxies that are believed in one request, at most forwarded_hops_max
  ForwardedParts parts = {};  // which parts are believed
};

// One end of a connection (RFC 7239 §6).
struct ForwardedNode {
  std::optional<IpAddress> address;   // none: unknown, or obfuscated
  std::optional<std::uint16_t> port;  // none: not said, or obfuscated
  friend bool operator==(const ForwardedNode&, const ForwardedNode&) noexcept = default;
};

// Nothing for a text that is no node. `bare_v6`: an address of IPv6 may stand without brackets, as
// in X-Forwarded-For.
std::optional<ForwardedNode> parse_forwarded_node(Bytes text, bool bare_v6) noexcept;

// What was read of them.
struct Forwarding {
  ForwardedNode client;          // no address: it is the peer
  std::optional<Scheme> scheme;  // none: not said
  Bytes host;                    // an authority; empty: not said
  unsigned hops = 0;             // elements that were believed
  bool is_malformed = false;     // what is left out was wrong, or too much
};

// REQUIRES that the peer which sent the request is trusted.
Forwarding read_forwarding(const Head& head, const ForwardedRules& rules,
                           const NetworkSet& trusted) noexcept;

// Whether a proxy, configured or not, has left a trace in the request: Forwarded, Via,
// X-Forwarded-* and what balancers, tunnels and delivery networks add. No browser and no client of
// HTTP adds one. A proxy may leave none: false says nothing.
bool has_trace_of_proxy(const Head& head) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
