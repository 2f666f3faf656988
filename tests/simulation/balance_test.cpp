// Two reactors that pass connections to each other while clients leave and the server stops. Every
// descriptor is closed in the end, whichever reactor had it last.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "hello_world_server/routes.hpp"
#include "katana/base/system/check.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/connection_balance.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::simulation {
namespace {

using engine::SimNetwork;
using engine::SimPeer;

constexpr std::size_t reactor_count = 2;

struct BalancedReactor {
  BalancedReactor(const net::ReactorOptions& options, SimNetwork& network,
                  net::ConnectionBalance::Share& share, std::uint16_t port)
      : service(hello::make_service().value()),
        dispatcher(service),
        protocol({}, dispatcher),
        reactor(options, protocol.session_bytes(), network) {
    KATANA_CHECK(reactor.start());
    KATANA_CHECK(reactor.listen({.port = port, .must_be_free = port == 0}, protocol));
    reactor.balance(share);
  }
  Service service;
  Dispatcher dispatcher;
  session::Http1Protocol protocol;
  net::ReactorOn<engine::SimEngine> reactor;
};

// A client that sends a request, or half of it, and leaves in one way or another.
struct Visitor {
  Visitor(SimNetwork& network, std::uint16_t port) : peer(network) {
    peer.connect(port);
    Random& random = network.random();
    if (random.below(4) != 0) peer.send("GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\nGET / HT");
    const auto stays_us =
        static_cast<std::int64_t>(random.below(random.below(2) == 0 ? 400 : 40'000));
    network.after(microseconds(stays_us), [this, way = random.below(3)] {
      if (way == 0) peer.reset();
      if (way == 1) peer.close();
      if (way == 2) peer.finish();
    });
  }
  SimPeer peer;
};

class BalancedRun {
 public:
  explicit BalancedRun(std::uint64_t seed) : network_(seed) {
    net::ReactorOptions options;
    options.engine.links_max = 24;  // some passed connections wait for a link
    options.output_blocks_max = 1024;
    options.output_blocks_reserve = 16;
    options.carry_large_max = 16;
    std::uint16_t port = 0;
    for (std::size_t index = 0; index < reactor_count; ++index) {
      servers_[index] =
          std::make_unique<BalancedReactor>(options, network_, balance_.share(index), port);
      port = servers_[index]->reactor.port(0);
    }
    const std::uint64_t visitors = network_.random().between(20, 80);
    for (std::uint64_t count = 0; count < visitors; ++count) {
      const auto comes_us = static_cast<std::int64_t>(network_.random().below(20'000));
      network_.after(microseconds(comes_us), [this, port] {
        visitors_.push_back(std::make_unique<Visitor>(network_, port));
      });
    }
    const auto stops_us = static_cast<std::int64_t>(network_.random().below(60'000));
    network_.after(microseconds(stops_us), [this, drains = network_.chance(768)] {
      for (const auto& each : servers_) {
        drains ? each->reactor.request_drain(seconds(1)) : each->reactor.request_stop();
      }
    });
  }

  bool run() {
    for (int turns = 0; turns < 200'000; ++turns) {
      bool stopped = true;
      for (const auto& each : servers_) {
        if (each->reactor.stopped()) continue;
        stopped = false;
        each->reactor.turn(microseconds(static_cast<std::int64_t>(network_.random().below(500))));
      }
      if (stopped) return true;
    }
    return false;
  }

  std::uint64_t passed_on() const {
    std::uint64_t sum = 0;
    for (const auto& each : servers_) sum += each->reactor.counters().passed_on;
    return sum;
  }
  // Ends the reactors, as a server's end does; what still waits for one of them goes with it.
  void end() {
    for (auto& each : servers_) each.reset();
  }
  SimNetwork& network() noexcept { return network_; }

 private:
  SimNetwork network_;
  net::ConnectionBalance balance_{reactor_count};
  std::vector<std::unique_ptr<Visitor>> visitors_;
  std::array<std::unique_ptr<BalancedReactor>, reactor_count> servers_;
};

TEST(Balance, every_descriptor_is_closed_whoever_had_the_connection_when_its_client_left) {
  std::uint64_t passed_on = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    BalancedRun run(seed);
    ASSERT_TRUE(run.run()) << run.network().explain();
    passed_on += run.passed_on();
    run.end();
    ASSERT_TRUE(run.network().descriptors().empty())
        << run.network().descriptors().size() << " are open\n"
        << run.network().explain();
  }
  EXPECT_GT(passed_on, 100u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
