// ChatWorld: a chat server of one or more reactors on a simulated network, in virtual time.
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
#include <string>
#include <vector>

#include "apps/chat/protocol.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::simulation {

using engine::SimFaults;
using engine::SimNetwork;
using engine::SimPeer;

struct ChatWorldOptions {
  ChatWorldOptions();  // small pools and queues, so that a world is cheap and is soon full
  std::uint64_t seed = 1;
  SimFaults faults = SimFaults::calm();
  unsigned reactors = 1;
  std::uint32_t connections_max = 100;
  std::uint32_t rooms_max = 4;
  net::ReactorOptions reactor;
  chat::ChatOptions chat;
  std::size_t trace_lines_max = 200;
};

class ChatWorld {
 public:
  explicit ChatWorld(const ChatWorldOptions& options = {});
  ~ChatWorld();
  ChatWorld(const ChatWorld&) = delete;
  ChatWorld& operator=(const ChatWorld&) = delete;

  SimNetwork& network() noexcept { return network_; }
  net::Reactor& reactor(unsigned index = 0);
  chat::Hub& hub(unsigned index = 0);
  chat::Directory& directory() noexcept { return directory_; }
  std::uint16_t port() const noexcept { return port_; }
  Instant now() const noexcept { return network_.now(); }

  // Runs one turn of each reactor. It waits for the next due event, or at most `wait_max`.
  void turn(Duration wait_max = milliseconds(1));
  void run_for(Duration duration);
  // The value of done().
  bool run_until(const std::function<bool()>& done, Duration limit = seconds(60));
  void drain(Duration limit);
  bool stopped() const;

  // The rules that must hold at any time, and were broken so far.
  const std::vector<std::string>& faults() const noexcept { return faults_; }
  // The mistakes of a server that all clients have left.
  std::vector<std::string> faults_at_rest();
  // The sum over all hubs.
  std::uint64_t sum(const std::function<std::uint64_t(chat::HubCounters&)>& value);

 private:
  struct Server;

  void check();
  void complain(bool wrong, std::string what);

  ChatWorldOptions options_;
  SimNetwork network_;
  chat::Directory directory_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::uint16_t port_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
