// World: the whole stack, from engine to handlers, in virtual time.
//
// A SimNetwork, one reactor on SimEngine, and two services behind their dispatchers and protocols:
// hello_world_server's routes and Trial's. Events happen only in turn() and its callers.
//
// Owns       all of it.
// Thread     one.
// Fails      a broken obligation aborts with the seed on stderr; everything else is for the test
//            to ask.
// Invariant  the same options and the same calls give the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/transform.hpp"
#include "tests/simulation/trial.hpp"

namespace katana::simulation {

using engine::SimFaults;
using engine::SimNetwork;
using engine::SimPeer;
using engine::SimRange;

// trial_tls: Trial's, under TLS, where WorldOptions have credentials.
enum class Site : std::uint8_t { hello, trial, trial_tls };

struct WorldOptions {
  WorldOptions();  // small pools, so that making a world is cheap
  std::uint64_t seed = 1;
  SimFaults faults = SimFaults::calm();
  net::ReactorOptions reactor;
  session::HttpOptions http;
  tls::Credentials* credentials = nullptr;              // borrowed
  std::function<void(Router&)> more_routes;             // for Site::trial
  std::optional<net::ClientLimitOptions> clients = {};  // the limits of a client of Site::trial
  std::size_t trace_lines_max = 400;
};

class World {
 public:
  explicit World(const WorldOptions& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  SimNetwork& network() noexcept { return network_; }
  net::Reactor& reactor() noexcept { return *reactor_; }
  engine::SimKernel& kernel() noexcept { return *kernel_; }
  Trial& trial() noexcept { return trial_; }
  // REQUIRES WorldOptions::clients.
  net::ClientLimits& clients() noexcept { return *clients_; }
  session::Http1Protocol& protocol(Site site) noexcept;
  session::Http2Protocol& http2(Site site) noexcept;
  const Service& service(Site site) const noexcept;
  std::uint16_t port(Site site) const;
  // The counters of both protocols together.
  session::HttpCounters http_counters() noexcept;
  Instant now() const noexcept { return network_.now(); }

  // Runs one turn. It waits for the next due event, or at most `wait_max`.
  void turn(Duration wait_max = seconds(3600));
  void run_for(Duration duration) { run_until(now() + duration); }
  void run_until(Instant moment);
  // Turns until `done`, or until so much time has passed. The value of done().
  bool run_while_not(const std::function<bool()>& done, Duration limit = seconds(600));
  // Turns until nothing happens without time passing, or after so many turns.
  void run_to_rest(std::uint64_t turns_max = 1'000'000);

  // The mistakes of a server that has nothing to do; empty when there are none.
  std::vector<std::string> faults_at_rest();

  // The most that was in use at the end of a turn.
  const net::MemoryBudget& memory_peak() const noexcept { return memory_peak_; }
  std::uint64_t turns() const noexcept { return turns_; }
  // Called at the end of each turn.
  std::function<void()> on_turn;

 private:
  struct Server;

  bool at_rest() const;

  SimNetwork network_;
  Trial trial_;
  std::unique_ptr<net::ClientLimits> clients_;  // null: nothing is limited
  std::unique_ptr<Server> server_;
  net::Reactor* reactor_ = nullptr;
  engine::SimKernel* kernel_ = nullptr;
  net::MemoryBudget memory_peak_;
  std::uint64_t turns_ = 0;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
