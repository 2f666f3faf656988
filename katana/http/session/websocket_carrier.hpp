// WebSocketCarrier: the transport of a WebSocket session: a connection, or a stream of HTTP/2 (RFC
// 8441).
//
// Borrows    the reactor, and the outbox for the output of the session.
// Thread     its reactor's.
// Allocates  never.
// Invariant  no call of it ends the session: its effects come after the session's present call has
//            returned, or after flush_later().
#pragma once

#include <cstddef>

#include "katana/net/reactor/connection.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::session {

class WebSocketCarrier {
 public:
  WebSocketCarrier(net::Reactor& reactor, Outbox& outbox) noexcept
      : reactor_(reactor), outbox_(outbox) {}
  WebSocketCarrier(const WebSocketCarrier&) = delete;
  WebSocketCarrier& operator=(const WebSocketCarrier&) = delete;

  net::Reactor& reactor() noexcept { return reactor_; }      // on which the session runs
  Outbox& outbox() noexcept { return outbox_; }              // where the session writes
  const Outbox& outbox() const noexcept { return outbox_; }  // the same, to look at
  // The address of the client, or of the proxy before it.
  virtual engine::PeerAddress peer() noexcept = 0;

  // ---- input ----
  // True if the session may take more input: it is not paused and does not end. A full outbox
  // pauses.
  virtual bool may_take() noexcept = 0;
  virtual bool paused() const noexcept = 0;
  // The handler of the messages calls these.
  virtual void pause() noexcept = 0;
  virtual void resume() noexcept = 0;
  virtual bool paused_by_handler() const noexcept = 0;

  // ---- output ----
  // The bytes that may wait to be sent; one session may have `most`.
  virtual std::size_t queue_bytes_max(std::size_t most) const noexcept = 0;
  // WebSocketSession::on_writable() follows once the outbox is empty.
  virtual void want_writable() noexcept = 0;

  // ---- its end, and time ----
  virtual bool finishing() const noexcept = 0;
  virtual void finish(net::Finish how) noexcept = 0;
  virtual void reset() noexcept = 0;
  virtual void set_deadline(Instant deadline) noexcept = 0;
  // REQUIRED after any action outside of a call of the session.
  virtual void flush_later() noexcept = 0;

 protected:
  ~WebSocketCarrier() = default;

 private:
  net::Reactor& reactor_;
  Outbox& outbox_;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
