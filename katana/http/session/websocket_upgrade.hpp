// The steps from a request to a WebSocket connection: judge_upgrade(), then upgrade().
//
// Borrows    the exchange, for the calls; the subprotocols, for the life of the connection.
// Thread     the exchange's reactor.
// Allocates  the connection's replacement, once.
// Fails      a refusal has the status of the reply; nothing was sent.
#pragma once

#include <memory>
#include <span>

#include "katana/http/session/exchange.hpp"
#include "katana/http/session/websocket.hpp"
#include "katana/wire/ws/handshake.hpp"

namespace katana::session {

// Requirements of a handshake (RFC 6455 §4.2).
struct UpgradeOptions {
  bool any_origin = false;                   // true: pages of every site may connect
  std::span<const Bytes> origins = {};       // in addition to pages of the same host
  std::span<const Bytes> subprotocols = {};  // in the order of preference; empty: none is agreed on
};

// Result of judge_upgrade().
struct Upgrade {
  unsigned status = 0;  // of the refusal; 0: there is none
  Bytes detail = {};
  ws::Handshake handshake = {};  // for the reply; counts if status is 0
};

// Checks the handshake, and counts refusals.
Upgrade judge_upgrade(Exchange& exchange, const http::Head& head,
                      const UpgradeOptions& options) noexcept;
// Sends the 101, or on a stream of HTTP/2 the 200. REQUIRES no refusal. Returns false, and sends
// nothing, if the connection cannot become a WebSocket.
bool upgrade(Exchange& exchange, const Upgrade& agreed, std::unique_ptr<WebSocketHandler> handler);

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
