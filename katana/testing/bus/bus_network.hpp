// BusNetwork: a bus between simulated nodes, in virtual time. It stands for NATS between processes,
// with delays, losses, partitions, and nodes that die.
//
//   engine::SimNetwork network(seed, engine::SimFaults::calm());
//   testing::BusNetwork buses(network, {.delay_min = microseconds(50)});
//   std::unique_ptr<bus::Bus> a = buses.make("a");   // given to all parts of node a
//   std::unique_ptr<bus::Bus> b = buses.make("b");
//   buses.cut("a", "b");                             // messages between a and b are lost
//   buses.heal("a", "b");
//   buses.isolate("a");                              // a has lost its server, and knows it
//   a.reset();                                       // kill -9: messages to it are lost
//
// The guarantee is that of NATS (DeliveryGuarantee::at_most_once), and is kept the same way. Each
// publisher numbers its messages per subject. The numbers are repeated when a subject falls silent
// (stores/bus/sequence.hpp).
//
// The network keeps the streams (stores/bus/streams.hpp). Every node that is not isolated reaches
// them at once, whichever links are cut.
//
// Owns       messages in transit, and the streams' content. The Bus of a node belongs to its
//            caller, and may be destroyed at any time.
// Borrows    the SimNetwork, which outlives it and every Bus.
// Thread     one: that of the network.
// Allocates  for each message and node: a test's tool.
// Fails      as a Bus does.
// Invariant  messages from one node to another arrive in order, or not at all; equal seeds and
//            calls give equal runs.
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

// The faults of every link, and the options of each node's bus. The defaults lose nothing.
struct BusNetworkOptions {
  // Delays and losses of every message between two nodes.
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

  // REQUIRES that no node of that name exists. After its end a new one may take the name.
  std::unique_ptr<bus::Bus> make(std::string name);

  // Cuts or heals the link in both directions, for messages from now on. The nodes do not notice.
  void cut(std::string_view a, std::string_view b);
  void heal(std::string_view a, std::string_view b);
  // Cuts every link between a node of the one side and a node of the other.
  void partition(const std::vector<std::string>& one, const std::vector<std::string>& other);
  void heal_all();
  // The node loses its server and notices; rejoin() gives it one again.
  void isolate(std::string_view node);
  void rejoin(std::string_view node);
  // The servers lose the content of their streams and the positions of all consumers.
  void lose_streams();
  void set_loss(std::uint32_t per_1024) noexcept;
  void set_delay(Duration min, Duration max) noexcept;
  // The number of messages that were lost so far, one for each node that had a subscriber.
  std::uint64_t lost() const noexcept;

 private:
  class Core;
  class Node;
  std::shared_ptr<Core> core_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
