// OriginState: the state that the connections to one origin, on one reactor, share.
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
  const bool tls = origin.secure;  // also false in a test's network
  const Proxy* proxy = nullptr;    // null: direct connections
  // The origin or proxy to which connections are made.
  const Origin& peer() const noexcept { return proxy != nullptr ? proxy->origin() : origin; }
  // Calls that one connection takes at a time, as another one has shown. 0: not known, or none.
  std::uint32_t calls_per_connection = 0;
  tls::KeptSessions sessions = {};
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
