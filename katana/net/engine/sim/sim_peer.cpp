#include "katana/net/engine/sim/sim_peer.hpp"

#include "katana/base/system/check.hpp"

namespace katana::engine {

SimPeer::~SimPeer() {
  if (connection_) connection_->reset(SimSide::peer);
}

void SimPeer::connect(SimAddress from, SimAddress to, std::uint16_t port) {
  KATANA_REQUIRE(!connection_);
  const SimFaults& faults = network_.faults();
  const std::size_t to_peer = window_ != 0 ? window_ : network_.draw(faults.peer_window_bytes);
  connection_ =
      std::make_shared<SimConnection>(network_, to_peer, network_.draw(faults.server_window_bytes));
  connection_->attach(SimSide::peer, this);
  network_.note("peer connects", number(), port);
  connection_->request(from, to, port);
}

void SimPeer::send(Bytes bytes) {
  KATANA_REQUIRE(connection_);
  network_.note("peer sends", number(), bytes.size());
  connection_->write(SimSide::peer, bytes);
}

void SimPeer::finish() {
  KATANA_REQUIRE(connection_);
  connection_->finish(SimSide::peer);
}

void SimPeer::close() {
  KATANA_REQUIRE(connection_);
  closed_ = true;
  connection_->close(SimSide::peer);
}

void SimPeer::reset() {
  KATANA_REQUIRE(connection_);
  closed_ = true;
  connection_->reset(SimSide::peer);
}

void SimPeer::start_reading() {
  reading_ = true;
  if (connection_ && !closed_) on_stream(*connection_);
}

void SimPeer::on_stream(SimConnection& connection) {
  if (connection.opened() && !told_connected_) {
    told_connected_ = true;
    if (on_connected) on_connected();
  }
  if (reading_ && !closed_) read();
  if (closed_ || over()) return;
  if (connection.broken(SimSide::peer)) {
    (connection.opened() ? saw_reset_ : refused_) = true;
    network_.note(refused_ ? "peer is refused" : "peer sees reset", number(), 0);
  } else if (reading_ && connection.ended(SimSide::peer)) {
    saw_end_ = true;
    network_.note("peer sees end", number(), received_.size());
  }
  if (over() && on_over) on_over();
}

void SimPeer::read() {
  const std::size_t count = connection_->arrived(SimSide::peer);
  if (count == 0) return;
  received_ += connection_->take(SimSide::peer, count);
  connection_->acknowledge(SimSide::peer, count);
  network_.note("peer receives", number(), count);
  if (on_received) on_received();
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
