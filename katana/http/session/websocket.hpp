// WebSocket: a connection that carries messages, as its handler sees it. WebSocketHandler: handles
// it.
//
// Owns       a WebSocketHandler belongs to its connection, which destroys it.
// Borrows    the arguments of on_message(), for the call.
// Thread     the connection's reactor. From others: WebSocketHandle (websocket_handle.hpp).
// Allocates  a message that arrives in parts, in memory of its size, until it is delivered.
// Fails      send() returns the outcome for the message: only `sent` means that it is sent. An
//            exception from a handler closes the connection (1011).
// Invariant  on_open() comes first, on_close() last and once. Between them comes every message that
//            was received completely, in order. After on_close() nothing can be sent.
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

// The result of send() for a message.
enum class SendOutcome : std::uint8_t {
  sent,      // the message is in the connection's outbox, or on its way there
  full,      // too many bytes wait to be sent already
  closed,    // the connection has ended, or is about to
  not_utf8,  // the text is not UTF-8 (RFC 6455 §5.6); nothing is sent
};

// The treatment of a message from another thread or a topic for a connection with a full queue. The
// connection's handler gets SendOutcome::full instead, and can wait.
enum class SlowPeer : std::uint8_t {
  disconnect,  // the connection is closed (1008)
  drop,        // the message is dropped, and counted
};

// Limits of the WebSocket connections of a server.
struct WebSocketOptions {
  ws::Limits limits = {};           // sizes and timeouts of messages, pings and closing
  ws::DeflateOptions deflate = {};  // permessage-deflate (RFC 7692)
  // The bytes of one connection that may wait to be sent. If none wait, one message of any size is
  // taken.
  std::size_t queue_bytes_max = 256 * 1024;
  SlowPeer slow_peer = SlowPeer::disconnect;
  // The bytes that other threads have posted to a reactor, and that it has not taken yet.
  std::size_t posted_bytes_max = 4 * 1024 * 1024;
  // Topics that one connection may subscribe to. The handler learns that a further subscription is
  // refused, and can tell its client; the connection continues.
  std::uint32_t subscriptions_max = 256;
  // Gets the exceptions of handlers; null: none. Borrowed. HttpOptions::failures, if that is set.
  FailureObserver* failures = nullptr;
};

// Counters of the connections of one reactor.
struct WebSocketCounters {
  std::uint64_t opened = 0;              // accepted handshakes
  std::uint64_t closed = 0;              // connections that ended, for any reason
  std::uint64_t handshakes_refused = 0;  // by the server, with 4xx
  std::uint64_t messages_received = 0;   // whole messages, of all kinds
  std::uint64_t messages_sent = 0;       // whole messages, of all kinds
  std::uint64_t refused = 0;             // clients that broke a rule of the protocol
  std::uint64_t handler_failures = 0;    // handlers that threw
  std::uint64_t pings = 0;               // sent to silent clients
  std::uint64_t timeouts = 0;            // clients that did not answer a ping or a close
  std::uint64_t dropped = 0;             // messages for connections whose queue was full
  std::uint64_t disconnects = 0;         // of connections with a full queue
  std::uint64_t memory_refusals = 0;     // closed because memory was scarce (1013)
};

class WebSocket {
 public:
  // Text must be UTF-8: a client would end the connection, so other text is not sent (not_utf8).
  virtual SendOutcome send(Bytes payload, MessageKind kind) noexcept = 0;
  SendOutcome send_text(Bytes text) noexcept { return send(text, MessageKind::text); }
  SendOutcome send_binary(Bytes bytes) noexcept { return send(bytes, MessageKind::binary); }
  // The same for bytes that `memory` retains; they are not copied. REQUIRES UTF-8 for text: it is
  // not checked, because many connections may share it.
  virtual SendOutcome send_shared(Bytes payload, Retained& memory, MessageKind kind) noexcept = 0;
  // Begins to close. Earlier messages are still sent; received ones are dropped. on_close() follows
  // when the client agrees or its time is up. A reason that is not UTF-8 is left out. A code that
  // no frame may have (RFC 6455 §7.4.1), such as that of a broken connection in on_close(), is sent
  // without code and reason.
  virtual void close(CloseCode code, Bytes reason) noexcept = 0;
  // Takes no more messages until resume(): the client must wait.
  virtual void pause() noexcept = 0;
  virtual void resume() noexcept = 0;

  // A handle for other threads, and for later: it knows when the connection has ended.
  virtual WebSocketHandle handle() = 0;
  virtual net::Reactor& reactor() noexcept = 0;
  virtual engine::PeerAddress peer() noexcept = 0;
  // The agreed subprotocol; empty: none.
  virtual Bytes subprotocol() const noexcept = 0;
  // The bytes that wait to be sent.
  virtual std::size_t queued_bytes() const noexcept = 0;
  // on_writable() follows when all of them are sent, also if no send() was refused.
  virtual void want_writable() noexcept = 0;
  // The waiting output, for reading: rooms that share messages among connections account for it.
  virtual Outbox& outbox() noexcept = 0;

 protected:
  WebSocket() = default;
  ~WebSocket() = default;
};

// A program's handler of one connection. All calls come on the connection's reactor.
class WebSocketHandler {
 public:
  virtual ~WebSocketHandler() = default;
  virtual void on_open(WebSocket&) {}  // once, first; the connection can send
  // A complete message. `payload` is valid for the call.
  virtual void on_message(WebSocket& socket, Bytes payload, MessageKind kind) = 0;
  // A handler whose send() found the queue full may continue.
  virtual void on_writable(WebSocket&) {}
  // The server stops: the handler may send a last message. The connection is closed right after:
  // 1001, or 1012 when the program restarts, each at another time (net::Handover::spread).
  virtual void on_drain(WebSocket&) {}
  // `code` is the client's; ours if we refused the client; none if the client gave none; and
  // abnormal when the connection broke off.
  virtual void on_close(WebSocket&, CloseCode, Bytes) {}
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
