// SimPeer: a client on the simulated network, driven by a test or by its own hooks.
//
// Owns       its end of one connection, and everything it received.
// Borrows    the network, which must outlive it.
// Allocates  as std::string does.
// Thread     the network's. Hooks run inside the engine's turn(), never inside a Sink call.
// Fails      never; refusal, end and reset are states.
// Invariant  received() grows only while the SimPeer reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"

namespace katana::engine {

class SimPeer final : private SimEnd {
 public:
  explicit SimPeer(SimNetwork& network) : network_(network) {}
  // A connection that is still open is reset.
  ~SimPeer();
  SimPeer(const SimPeer&) = delete;
  SimPeer& operator=(const SimPeer&) = delete;

  // Called once. send() and finish() may follow at once; their effect waits for the handshake.
  void connect(std::uint16_t port) { connect(0, 0, port); }
  // From one host to a port of another.
  void connect(SimAddress from, SimAddress to, std::uint16_t port);
  // The number of bytes that the server may have sent and this side not read; set before connect().
  // Default: the faults draw it.
  void set_window(std::size_t bytes) { window_ = bytes; }

  void send(Bytes bytes);  // queued, and written as the server's window allows
  // Sends no more; still receives.
  void finish();
  // Neither sends nor receives any more.
  void close();
  void reset();

  void stop_reading() { reading_ = false; }  // the server's window fills up
  void start_reading();                      // takes the bytes that arrived meanwhile

  // Everything since connect() or the last take_received().
  const std::string& received() const noexcept { return received_; }
  std::string take_received() { return std::exchange(received_, {}); }  // empties received()
  // Sent by the test and not on the wire yet, because the server does not read.
  std::size_t unsent() const { return connection_ ? connection_->waiting(SimSide::peer) : 0; }

  // The server has accepted.
  bool connected() const { return connection_ && connection_->opened(); }
  bool refused() const noexcept { return refused_; }      // nothing listens on the port
  bool saw_end() const noexcept { return saw_end_; }      // the server has ended its stream
  bool saw_reset() const noexcept { return saw_reset_; }  // the server has reset the connection
  // Nothing more will be received.
  bool over() const noexcept { return refused_ || saw_end_ || saw_reset_; }
  // The server's end. REQUIRES connect().
  SimLink link_state() const { return connection_->link_state; }
  // The engine's link of the server's end. REQUIRES link_state() open.
  Link link() const { return connection_->link; }
  // The number of the connection in the trace.
  std::uint64_t number() const { return connection_->number(); }

  std::function<void()> on_connected;  // called once, when connected() becomes true; may be empty
  std::function<void()> on_received;   // called when received() has grown; may be empty
  std::function<void()> on_over;       // called once, when over() becomes true; may be empty

 private:
  void on_stream(SimConnection& connection) override;
  void read();

  SimNetwork& network_;
  std::shared_ptr<SimConnection> connection_;
  std::size_t window_ = 0;  // 0: drawn
  std::string received_;
  bool reading_ = true;
  bool closed_ = false;
  bool told_connected_ = false;
  bool refused_ = false;
  bool saw_end_ = false;
  bool saw_reset_ = false;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
