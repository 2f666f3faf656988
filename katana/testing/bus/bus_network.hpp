// BusNetwork: a bus between simulated nodes, in virtual time: what NATS is to processes, with
// delays, losses, partitions, and nodes that die.
//
//   engine::SimNetwork network(seed, engine::SimFaults::calm());
//   testing::BusNetwork buses(network, {.delay_min = microseconds(50)});
//   std::unique_ptr<bus::Bus> a = buses.make("a");   // given to everything that node a runs
//   std::unique_ptr<bus::Bus> b = buses.make("b");
//   buses.cut("a", "b");                             // what they send one another is lost
//   buses.heal("a", "b");
//   buses.isolate("a");                              // a has lost its server, and knows it
//   a.reset();                                       // kill -9: what comes to it is lost
//
// The promise is that of NATS (DeliveryGuarantee::at_most_once), and so is how it is kept: numbers
// for each publisher and subject, repeated when a subject falls silent (stores/bus/sequence.hpp).
//
// Streams (stores/bus/streams.hpp) are kept by the network: every node that is not isolated reaches
// them, at once, whatever links are cut.
//
// Owns       what is under way, and what streams keep; the Bus of a node is its caller's, and may
//            go at any time.
// Borrows    the SimNetwork, which outlives it and every Bus.
// Thread     one: that of the network.
// Allocates  for each message and node: a test's tool.
// Fails      as a Bus does.
// Invariant  what one node sends another arrives in its order, or not at all; equal seeds and calls
//            give equal runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/sequence.hpp"
#include "katana/stores/bus/streams.hpp"

namespace katana::testing {

// The faults of every link, and what each node's bus is made with. The defaults lose nothing.
struct BusNetworkOptions {
  // Of every message, between two nodes.
  Duration delay_min = microseconds(100);
  Duration delay_max = microseconds(400);
  std::uint32_t loss_per_1024 = 0;
  bus::BusOptions bus = {};
  bus::AwayOptions away = {};
  bus::SequencerOptions numbers = {};
  std::size_t gap_entries_max = 64 * 1024;
};

class BusNetwork {
 public:
  explicit BusNetwork(engine::SimNetwork& network, const BusNetworkOptions& options = {});
  ~BusNetwork();
  BusNetwork(const BusNetwork&) = delete;
  BusNetwork& operator=(const BusNetwork&) = delete;

  // REQUIRES that no node of that name is there. One may come again after it is gone.
  std::unique_ptr<bus::Bus> make(std::string name);

  // Both ways, for what is sent from now on. Neither of them knows.
  void cut(std::string_view a, std::string_view b);
  void heal(std::string_view a, std::string_view b);
  // Every link between a node of the one side and a node of the other.
  void partition(const std::vector<std::string>& one, const std::vector<std::string>& other);
  void heal_all();
  // The node loses its server, and is told; then it has one again.
  void isolate(std::string_view node);
  void rejoin(std::string_view node);
  // The servers lose what their streams kept, and the positions of all consumers.
  void lose_streams();
  void set_loss(std::uint32_t per_1024) noexcept;
  void set_delay(Duration min, Duration max) noexcept;
  // Messages that links and losses have swallowed so far, one for each node that had a subscriber.
  std::uint64_t lost() const noexcept;

 private:
  class Core;
  class Node;
  std::shared_ptr<Core> core_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
