// OpeningSession: the session of a connection whose transform is not open yet. It waits, and gives
// up when that takes too long; of a connection that we have begun, its Protocol does.
//
// Owns       nothing; the session that follows takes its memory.
// Thread     its reactor's.
// Allocates  never.
// Invariant  is offered no bytes: they are the transform's.
#pragma once

#include <algorithm>

#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/transform.hpp"

namespace katana::net {

class OpeningSession final : public Session {
 public:
  OpeningSession(Connection& connection, Protocol& protocol) noexcept
      : connection_(connection), protocol_(protocol) {
    if (connection.outgoing()) return;  // the code that began it says for how long
    const Reactor& reactor = connection.reactor();
    begin_waiting(reactor.now());
    if (reactor.draining()) OpeningSession::on_drain();
  }
  ~OpeningSession() override {
    if (!opened_) protocol_.on_not_opened(connection_);
  }

  // For the connection's transform, from now on.
  void begin_waiting(Instant now) noexcept {
    const Duration usual = connection_.reactor().options().opening_timeout;
    const Transform* const transform = connection_.transform();
    connection_.set_deadline(now +
                             (transform != nullptr ? transform->opening_timeout(usual) : usual));
  }
  // Its session can be opened.
  Protocol& open() noexcept {
    opened_ = true;
    return protocol_;
  }

  std::size_t on_bytes(Bytes) noexcept override { return 0; }
  void on_input_end() noexcept override { connection_.finish(Finish::close); }
  void on_deadline() noexcept override {
    connection_.transform()->cut(TransformCut::timed_out);
    connection_.reset();
  }
  // A client or server that is about to ask is still answered; one that says nothing does not hold
  // up the end.
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
