// ExchangeObserver: gets every exchange and its result, such as an access log.
//
// Borrows    the record and the objects that it refers to, for the call.
// Thread     the reactor's; it must not block, and may allocate.
// Fails      it must not throw.
// Invariant  on_exchange_begin() and on_exchange_end() are called once for every exchange. The ends
//            come in the order in which exchanges end.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/exchange_context.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::session {

class ClientSource;
class Exchange;

// How an exchange ended.
//   replied    its reply is complete and given to the engine
//   aborted    its reply could not be completed; the connection was reset
//   peer_left  the connection was gone, or the client did not wait
enum class ExchangeEnd : std::uint8_t { replied, aborted, peer_left };

// The kind of the exchange. Events and WebSocket connections last as long as both sides like: their
// duration says nothing of the speed of the server.
enum class ExchangeKind : std::uint8_t { request, events, websocket };

// The facts about an exchange when it ends.
struct ExchangeRecord {
  const RouteMark* route = nullptr;  // null: none served it
  const http::Head* head = nullptr;  // null, when the protocol refused it
  Bytes method = {};                 // empty, as the target, when the protocol refused the head
  Bytes target = {};                 // path and query, as the client sent them
  unsigned status = 0;               // of the reply; 0: none was begun
  std::uint64_t content_bytes = 0;   // of the reply, without framing; none for HEAD
  Duration duration = {};            // from the end of the head to the end of the exchange
  std::uint32_t request = 0;         // number of the request on its connection, from 1
  ExchangeEnd end = ExchangeEnd::replied;
  ExchangeKind kind = ExchangeKind::request;  // a plain request, events, or a WebSocket connection
  bool is_http2 = false;                      // false: HTTP/1
};

class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  // The head has arrived; null: it was refused. The exchange keeps the returned object until it
  // ends. `from`: the source of the request.
  virtual std::unique_ptr<ExchangeContext> on_exchange_begin(const http::Head* /*head*/,
                                                             ClientSource& /*from*/) noexcept {
    return nullptr;
  }
  // The reply became a stream of events, which continues.
  virtual void on_events_begin(Exchange&) noexcept {}
  // A WebSocket connection has ended, that long after its handshake. Before, it was an exchange
  // that ended with the handshake.
  virtual void on_websocket_end(Duration) noexcept {}
  // `exchange` has ended. Its connection_counters() and `peer()` are still valid.
  virtual void on_exchange_end(Exchange& exchange, const ExchangeRecord& record) noexcept = 0;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
