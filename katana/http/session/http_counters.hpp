// HttpCounters: counters of the sessions of one reactor, for all versions of HTTP.
//
// Owns       numbers.
// Thread     its reactor's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/http/session/websocket.hpp"
#include "katana/wire/http2/failure.hpp"

namespace katana::session {

// Counters for HTTP/2 only.
struct Http2Counters {
  std::uint64_t connections = 0;  // counted at their preface
  // Reset before their replies were sent, by the client or because of its mistake.
  std::uint64_t streams_reset = 0;
  std::uint64_t streams_stalled = 0;  // reset because their windows stayed closed
  std::uint64_t requests_held = 0;    // requests that waited for others to be sent
  std::uint64_t windows_held = 0;     // streams that waited for the bodies of others
  // Connections that ended with this failure.
  std::array<std::uint64_t, static_cast<std::size_t>(http2::Failure::count_)> failures{};
};

struct HttpCounters {
  std::uint64_t requests = 0;            // with an accepted head
  std::uint64_t refused = 0;             // by the protocol: 4xx, 5xx of Refusal
  std::uint64_t handler_failures = 0;    // threw or failed: 500
  std::uint64_t handler_timeouts = 0;    // 503: handlers that took longer than their timeout
  std::uint64_t handlers_cancelled = 0;  // the client left
  std::uint64_t memory_refusals = 0;     // ended because memory was scarce: 503
  // Statements of a trusted proxy about the client that were malformed, counted at each reading.
  std::uint64_t forwarded_malformed = 0;
  std::uint64_t replies_aborted = 0;  // begun and not completed: the connection was reset
  WebSocketCounters websocket = {};   // connections that became WebSocket ones
  Http2Counters http2 = {};
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
