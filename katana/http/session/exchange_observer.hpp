// ExchangeObserver: told of every exchange and what it came to, such as an access log.
//
// Borrows    the record and what it refers to, for the call.
// Thread     the reactor's; it must not block, and may allocate.
// Fails      it must not throw.
// Invariant  on_exchange_begin() and on_exchange_end() are called once for every exchange; the ends
//            come in the order in which exchanges are over.
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

// What the request became. Events and WebSocket connections go on for as long as both sides like:
// how long they took says nothing of how fast the server answers.
enum class ExchangeKind : std::uint8_t { request, events, websocket };

// What is known of an exchange when it ends.
struct ExchangeRecord {
  const RouteMark* route = nullptr;  // null: none served it
  const http::Head* head = nullptr;  // null, when the protocol refused it
  Bytes method = {};                 // empty, as the target, when the protocol refused the head
  Bytes target = {};                 // path and query, as the client sent them
  unsigned status = 0;               // of the reply; 0: none was begun
  std::uint64_t content_bytes = 0;   // of the reply, without framing; none for HEAD
  Duration duration = {};            // from the end of the head to the end of the exchange
  std::uint32_t request = 0;         // which of its connection, from 1
  ExchangeEnd end = ExchangeEnd::replied;
  ExchangeKind kind = ExchangeKind::request;  // a plain request, events, or a WebSocket connection
  bool is_http2 = false;                      // false: HTTP/1
};

class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  // The head is here; null: it was refused. The returned value is kept until the exchange is over.
  // `from` says who sent it.
  virtual std::unique_ptr<ExchangeContext> on_exchange_begin(const http::Head* /*head*/,
                                                             ClientSource& /*from*/) noexcept {
    return nullptr;
  }
  // Its reply became a stream of events, which goes on.
  virtual void on_events_begin(Exchange&) noexcept {}
  // A WebSocket connection is over, that long after its handshake. The connection was an
  // exchange before, which ended with the handshake.
  virtual void on_websocket_end(Duration) noexcept {}
  // `exchange` is over. Its connection_counters() may still be asked for, and its peer().
  virtual void on_exchange_end(Exchange& exchange, const ExchangeRecord& record) noexcept = 0;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
