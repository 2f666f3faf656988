// ClusterWorld: several chat servers on one simulated network, with a bus between them, in virtual
// time. Servers may be killed and started again. The bus may lose, delay and part.
//
// Owns       all of it.
// Thread     one: the reactors take turns.
// Fails      a broken obligation of the reactor aborts with the seed; everything else is for the
//            test to ask.
// Invariant  the same options and the same calls give the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/chat/cluster/bridge.hpp"
#include "katana/testing/bus/bus_network.hpp"
#include "tests/simulation/chat/chat_world.hpp"

namespace katana::simulation {

struct ClusterWorldOptions {
  ChatWorldOptions server;  // for each server; seed and faults are the network's
  chat::HistoryOptions history;
  chat::cluster::ClusterOptions cluster;
  testing::BusNetworkOptions bus;
};

class ClusterWorld {
 public:
  explicit ClusterWorld(const ClusterWorldOptions& options);
  ~ClusterWorld();
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  SimNetwork& network() noexcept { return network_; }
  testing::BusNetwork& buses() noexcept { return buses_; }
  Instant now() const noexcept { return network_.now(); }

  // ---- servers ----
  // Its number, from 0 on. One that was killed comes again under its name, with another number.
  std::size_t start(const std::string& name);
  // Kills the server as kill -9 does: its work under way is gone.
  void kill(std::size_t server);
  bool runs(std::size_t server) const { return servers_[server] != nullptr; }
  std::size_t servers() const noexcept { return servers_.size(); }
  const std::string& name_of(std::size_t server) const { return names_[server]; }
  std::uint16_t port(std::size_t server) const;
  chat::Directory& directory(std::size_t server);
  chat::cluster::Bridge& bridge(std::size_t server);
  chat::cluster::NodeId id(std::size_t server) const { return server + 1; }
  std::uint64_t sum(std::size_t server,
                    const std::function<std::uint64_t(chat::HubCounters&)>& value);
  // The positions up to which `server` heard `of` in the room.
  chat::cluster::IncomingStreams::Heard heard(std::size_t server, std::size_t of, Bytes room);

  // ---- time ----
  void turn(Duration wait_max);
  void run_for(Duration duration);
  // The value of done().
  bool run_until(const std::function<bool()>& done, Duration limit);
  void drain(Duration limit);

  // The mistakes of servers that all clients have left.
  std::vector<std::string> faults_at_rest();

 private:
  struct Reactor;
  struct Server;

  ClusterWorldOptions options_;
  SimNetwork network_;
  testing::BusNetwork buses_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::string> names_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
