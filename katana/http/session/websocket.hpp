// WebSocket: a connection that carries messages, as its handler sees it; and the handler.
//
// Owns       a WebSocketHandler belongs to its connection, which destroys it.
// Borrows    what on_message() gets, for the call.
// Thread     the connection's reactor. From others: WebSocketHandle (websocket_handle.hpp).
// Allocates  a message that did not arrive at once, in memory of its size, until it is delivered.
// Fails      send() says what became of the message: nothing was sent unless it says `sent`. An
//            exception from a handler closes the connection (1011).
// Invariant  on_open() comes first, on_close() last and once, and every message that was received
//            whole between them, in order. After on_close() nothing can be sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/wire/ws/limits.hpp"

namespace katana {
class FailureObserver;
class Outbox;
struct Retained;
}  // namespace katana

namespace katana::net {
class Reactor;
}

namespace katana::session {

using ws::CloseCode;
class WebSocketHandle;

// Opcode of a message (RFC 6455 §5.6). text: valid UTF-8, checked before the handler sees it.
enum class MessageKind : std::uint8_t { text, binary };

// What send() did with a message.
enum class SendOutcome : std::uint8_t {
  sent,    // it stands in the connection's outbox, or on its way there
  full,    // too much is waiting to be sent already
  closed,  // the connection is over, or about to be
};

// What is done with a message that another thread, or a topic, has for a connection whose queue is
// full. Its own handler is told, and can wait.
enum class SlowPeer : std::uint8_t {
  disconnect,  // the connection is closed (1008)
  drop,        // the message is dropped, and counted
};

// Limits of the WebSocket connections of a server.
struct WebSocketOptions {
  ws::Limits limits = {};           // sizes and timeouts of messages, pings and closing
  ws::DeflateOptions deflate = {};  // permessage-deflate (RFC 7692)
  // Of one connection, waiting to be sent. One message is taken whatever its size when nothing
  // waits.
  std::size_t queue_bytes_max = 256 * 1024;
  SlowPeer slow_peer = SlowPeer::disconnect;
  // Handed to a reactor by other threads, and not taken yet.
  std::size_t posted_bytes_max = 4 * 1024 * 1024;
  // Topics that one connection may be subscribed to. Subscribing beyond it is refused to the
  // handler, which can tell its client; the connection goes on.
  std::uint32_t subscriptions_max = 256;
  // Is told of what handlers throw; null: none. Borrowed. HttpOptions::failures, if that is set.
  FailureObserver* failures = nullptr;
};

// What the connections of one reactor have counted.
struct WebSocketCounters {
  std::uint64_t opened = 0;              // accepted handshakes
  std::uint64_t closed = 0;              // connections that ended, for any reason
  std::uint64_t handshakes_refused = 0;  // by the server, with 4xx
  std::uint64_t messages_received = 0;   // whole messages, of all kinds
  std::uint64_t messages_sent = 0;       // whole messages, of all kinds
  std::uint64_t refused = 0;             // clients that broke a rule of the protocol
  std::uint64_t handler_failures = 0;    // threw
  std::uint64_t pings = 0;               // sent to silent clients
  std::uint64_t timeouts = 0;            // clients that did not answer a ping or a close
  std::uint64_t dropped = 0;             // messages for connections whose queue was full
  std::uint64_t disconnects = 0;         // of those connections
  std::uint64_t memory_refusals = 0;     // closed because memory was scarce (1013)
};

class WebSocket {
 public:
  // Text has to be UTF-8: the client ends the connection otherwise.
  virtual SendOutcome send(Bytes payload, MessageKind kind) noexcept = 0;
  SendOutcome send_text(Bytes text) noexcept { return send(text, MessageKind::text); }
  SendOutcome send_binary(Bytes bytes) noexcept { return send(bytes, MessageKind::binary); }
  // The same for what `memory` retains, which is not copied.
  virtual SendOutcome send_shared(Bytes payload, Retained& memory, MessageKind kind) noexcept = 0;
  // Begins to close. Earlier messages still go out; received ones are dropped; on_close() follows
  // when the client agrees or its time is up. A code that no frame may have (RFC 6455 §7.4.1), such
  // as that of on_close() of a connection that broke off: without code and reason.
  virtual void close(CloseCode code, Bytes reason) noexcept = 0;
  // No more messages are taken until resume(): the client is made to wait.
  virtual void pause() noexcept = 0;
  virtual void resume() noexcept = 0;

  // For other threads, and for later: it knows when the connection is gone.
  virtual WebSocketHandle handle() = 0;
  virtual net::Reactor& reactor() noexcept = 0;
  virtual engine::PeerAddress peer() noexcept = 0;
  // That was agreed on; empty: none.
  virtual Bytes subprotocol() const noexcept = 0;
  // Waiting to be sent.
  virtual std::size_t queued_bytes() const noexcept = 0;
  // on_writable() follows when all of that is sent, also without a send() that was refused.
  virtual void want_writable() noexcept = 0;
  // What waits, to be looked at: rooms that share messages among connections keep account of it.
  virtual Outbox& outbox() noexcept = 0;

 protected:
  WebSocket() = default;
  ~WebSocket() = default;
};

// What a program does with one connection. All calls come on the connection's reactor.
class WebSocketHandler {
 public:
  virtual ~WebSocketHandler() = default;
  virtual void on_open(WebSocket&) {}  // once, first; the connection can send
  // A whole message. `payload` is valid for the call.
  virtual void on_message(WebSocket& socket, Bytes payload, MessageKind kind) = 0;
  // A send() that found the queue full may go on.
  virtual void on_writable(WebSocket&) {}
  // The server stops: a last word. The connection is closed right after: 1001, or 1012 when the
  // program restarts, each at another time (net::Handover::spread).
  virtual void on_drain(WebSocket&) {}
  // `code` is the client's, ours if we refused the client, none when it gave none, and abnormal
  // when the connection broke off.
  virtual void on_close(WebSocket&, CloseCode, Bytes) {}
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
