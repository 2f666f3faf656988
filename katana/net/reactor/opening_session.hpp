// OpeningSession: the session of a connection whose transform is not open yet. It waits, and gives
// up after a timeout. For an outgoing connection the timeout is its Protocol's.
//
// Owns       nothing; the next session takes its memory.
// Thread     its reactor's.
// Allocates  never.
// Invariant  is offered no bytes: they go to the transform.
#pragma once

#include <algorithm>

#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/transform.hpp"

namespace katana::net {

class OpeningSession final : public Session {
 public:
  OpeningSession(Connection& connection, Protocol& protocol) noexcept
      : connection_(connection), protocol_(protocol) {
    if (connection.outgoing()) return;  // its creator sets the timeout
    const Reactor& reactor = connection.reactor();
    begin_waiting(reactor.now());
    if (reactor.draining()) OpeningSession::on_drain();
  }
  ~OpeningSession() override {
    if (!opened_) protocol_.on_not_opened(connection_);
  }

  // Waits for the connection's transform from now on.
  void begin_waiting(Instant now) noexcept {
    const Duration usual = connection_.reactor().options().opening_timeout;
    const Transform* const transform = connection_.transform();
    connection_.set_deadline(now +
                             (transform != nullptr ? transform->opening_timeout(usual) : usual));
  }
  // The session can be opened.
  Protocol& open() noexcept {
    opened_ = true;
    return protocol_;
  }

  Bytes protocol_name() const noexcept override { return "tls handshake"; }
  std::size_t on_bytes(Bytes) noexcept override { return 0; }
  void on_input_end() noexcept override { connection_.finish(Finish::close); }
  void on_deadline() noexcept override {
    connection_.transform()->cut(TransformCut::timed_out);
    connection_.reset();
  }
  // A client that is about to ask is still answered; a silent one does not hold up the end.
  void on_drain() noexcept override {
    if (connection_.outgoing()) return;
    const Instant soon = connection_.reactor().now() + drain_grace;
    connection_.set_deadline(std::min(connection_.deadline(), soon));
  }

 private:
  static constexpr Duration drain_grace = seconds(1);

  Connection& connection_;
  Protocol& protocol_;
  bool opened_ = false;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
