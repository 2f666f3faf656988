// OriginState: what the connections to one origin, on one reactor, learn and share.
//
// Owns       TLS sessions that may be resumed.
// Thread     its reactor's.
#pragma once

#include <cstdint>

#include "katana/http/client/proxy.hpp"
#include "katana/http/client/url.hpp"
#include "katana/net/tls/kept_sessions.hpp"

namespace katana::client {

struct OriginState {
  const Origin origin;             // as URLs name it
  const bool tls = origin.secure;  // false also where a test's network stands in for the machine's
  const Proxy* proxy = nullptr;    // null: connections go to the origin itself
  // Where connections go to.
  const Origin& peer() const noexcept { return proxy != nullptr ? proxy->origin() : origin; }
  // Calls that one connection takes at a time, as another has shown. 0: not known, or none.
  std::uint32_t calls_per_connection = 0;
  tls::KeptSessions sessions = {};
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
