// WebSocketConnection: a WebSocket session on a connection of its HTTP session.
// WebSocketReplacement: makes one of an HTTP session that answered 101, or makes the session of a
// stream.
//
// Owns       the session; the replacement owns the terms of the handshake, and the handler.
// Borrows    the WebSocketShare of its reactor.
// Thread     its reactor's.
// Allocates  never.
// Invariant  it follows an HTTP session on its connection, and uses the memory of that session.
#pragma once

#include <memory>
#include <utility>

#include "katana/http/session/websocket_carrier.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/net/reactor/session.hpp"

namespace katana::session {

class WebSocketConnection final : public net::Session {
 public:
  WebSocketConnection(WebSocketShare& share, net::Connection& connection, WebSocketTerms terms,
                      std::unique_ptr<WebSocketHandler> handler) noexcept
      : carrier_(connection), session_(share, carrier_, std::move(terms), std::move(handler)) {}

  std::size_t on_bytes(Bytes input) noexcept override { return session_.on_bytes(input); }
  void on_input_end() noexcept override { session_.on_input_end(); }
  void on_writable() noexcept override { session_.on_writable(); }
  void on_deadline() noexcept override { session_.on_deadline(); }
  void on_drain() noexcept override { session_.on_drain(); }
  Bytes protocol_name() const noexcept override { return "websocket"; }
  std::size_t held_bytes() const noexcept override { return session_.kept_bytes(); }
  std::size_t on_memory_scarce() noexcept override { return session_.on_memory_scarce(); }

 private:
  class Carrier final : public WebSocketCarrier {
   public:
    explicit Carrier(net::Connection& connection) noexcept
        : WebSocketCarrier(connection.reactor(), connection.outbox()), connection_(connection) {}

    engine::PeerAddress peer() noexcept override { return connection_.peer().text(); }
    bool may_take() noexcept override {
      return !connection_.paused() && !connection_.finishing() && !connection_.output_full();
    }
    bool paused() const noexcept override { return connection_.paused(); }
    void pause() noexcept override { connection_.pause(net::PauseReason::handler_pending); }
    void resume() noexcept override { connection_.resume(net::PauseReason::handler_pending); }
    bool paused_by_handler() const noexcept override {
      return connection_.has(net::PauseReason::handler_pending);
    }
    std::size_t queue_bytes_max(std::size_t most) const noexcept override {
      return connection_.queue_mark(most);
    }
    void want_writable() noexcept override { connection_.want_writable(); }
    bool finishing() const noexcept override { return connection_.finishing(); }
    void finish(net::Finish how) noexcept override { connection_.finish(how); }
    void reset() noexcept override { connection_.reset(); }
    void set_deadline(Instant deadline) noexcept override { connection_.set_deadline(deadline); }
    void flush_later() noexcept override { connection_.wake(); }

   private:
    net::Connection& connection_;
  };

  Carrier carrier_;
  WebSocketSession session_;
};

// Follows an HTTP/1.1 session that accepted a handshake.
class WebSocketReplacement final : public net::SessionReplacement {
 public:
  WebSocketReplacement(WebSocketShare& share, WebSocketTerms terms,
                       std::unique_ptr<WebSocketHandler> handler) noexcept
      : share_(share), terms_(std::move(terms)), handler_(std::move(handler)) {}
  std::size_t session_bytes() const noexcept override { return sizeof(WebSocketConnection); }
  // Keeps the places of the request until the connection has ended. REQUIRES a request in the
  // terms, unless there are no places.
  void keep_places(RequestShare places) noexcept {
    if (places) terms_.request->keep_places(std::move(places));
  }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    return new (memory)
        WebSocketConnection(share_, connection, std::move(terms_), std::move(handler_));
  }
  // Makes the session of a stream. Call it once, instead of open().
  std::unique_ptr<WebSocketSession> open_on(WebSocketCarrier& carrier) noexcept {
    return std::make_unique<WebSocketSession>(share_, carrier, std::move(terms_),
                                              std::move(handler_));
  }

 private:
  WebSocketShare& share_;
  WebSocketTerms terms_;
  std::unique_ptr<WebSocketHandler> handler_;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
