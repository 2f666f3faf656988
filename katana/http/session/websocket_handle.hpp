// WebSocketHandle: refers to a WebSocket connection that may have ended already.
//
// Owns       a share of its reactor's WebSocketPost. A value of three words: copy it freely.
// Thread     any.
// Allocates  for each message: its bytes, framed.
// Fails      send() reports that the connection has ended, or that its reactor has too much queued.
// Invariant  never dangles, and never reaches another connection. The messages of one thread arrive
//            in their order. `sent` means that the reactor takes the message. If the connection's
//            queue is full at that time, WebSocketOptions::slow_peer decides.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/http/session/websocket.hpp"

namespace katana::session {

class WebSocketPost;

// The place of a connection in its reactor.
struct Slot {
  std::uint32_t index = 0;       // of the reactor's table
  std::uint32_t generation = 0;  // 0: no slot
};

class WebSocketHandle {
 public:
  WebSocketHandle() noexcept = default;
  WebSocketHandle(std::shared_ptr<WebSocketPost> post, Slot slot) noexcept
      : post_(std::move(post)), slot_(slot) {}

  // Any thread. `sent`: the reactor has the message; the client may still never get it. Text that
  // is not UTF-8 is not sent.
  SendOutcome send(Bytes payload, MessageKind kind) const;
  // not_utf8 if the text is not UTF-8.
  SendOutcome send_text(Bytes text) const { return send(text, MessageKind::text); }
  // Any bytes.
  SendOutcome send_binary(Bytes bytes) const { return send(bytes, MessageKind::binary); }
  // Begins the close handshake. `reason`: at most 123 bytes of UTF-8, for the client.
  SendOutcome close(CloseCode code, Bytes reason) const;

 private:
  std::shared_ptr<WebSocketPost> post_;
  Slot slot_;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
