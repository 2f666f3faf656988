// SimEngine: the engine contract in virtual time on a virtual network.
//
// Owns       see SimKernel; SimEngine adds the calls of the Sink.
// Borrows    the sink and the network; both must outlive it.
// Allocates  per event; this is a test's tool.
// Thread     the network's; wake() any.
// Fails      see SimKernel.
// Invariant  what runs on a real engine runs on it unchanged, and equal seeds give equal runs.
//
//   SimNetwork network(seed);                              // the seed draws the faults, too
//   SimEngine<Server> engine(Options{}, server, network);  // or net::ReactorOn<SimEngine>
//   (void)engine.start();
//   const Listener listener = *engine.listen({});
//
//   SimPeer client(network);
//   client.connect(engine.port(listener));
//   client.send("hello");
//   client.finish();
//   while (!client.over()) engine.turn(seconds(1));
//   EXPECT_EQ(client.received(), "hello") << network.explain();
//
// The parameter is not constrained to a Sink: a reactor that holds its engine is still incomplete
// when it names the engine's type.
#pragma once

#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sim/sim_kernel.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/net/engine/sim/sim_peer.hpp"

namespace katana::engine {

template <class S>
class SimEngine final : public SimKernel {
 public:
  SimEngine(const Options& options, S& sink, SimNetwork& network, SimAddress address = 0)
      : SimKernel(options, network, address), sink_(sink) {
    static_assert(Sink<S>);
  }

 private:
  bool sink_accepted(Link link, Listener listener, const PeerEndpoint& peer) override {
    return sink_.on_accepted(link, listener, peer);
  }
  void sink_bytes(Link link, Bytes bytes) override { sink_.on_bytes(link, bytes); }
  void sink_sent(Link link, std::size_t count) override { sink_.on_sent(link, count); }
  void sink_closed(Link link, Closed closed) override { sink_.on_closed(link, closed); }
  void sink_accept_failed(AcceptFailure failure) override { sink_.on_accept_failed(failure); }
  void sink_turn(Instant now) override { sink_.on_turn(now); }

  S& sink_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
