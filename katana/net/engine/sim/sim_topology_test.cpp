#include "katana/net/engine/sim/sim_topology.hpp"

#include <gtest/gtest.h>

#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"

namespace katana::engine {
namespace {

// Host 2 takes every connection and keeps its bytes.
class SimTopologyTest : public ::testing::Test, private SimHost, private SimEnd {
 protected:
  SimTopologyTest() { network_.attach(*this); }
  ~SimTopologyTest() override {
    network_.detach(*this);
    if (accepted_) accepted_->attach(SimSide::server, nullptr);
  }
  bool listens_on(std::uint16_t port) const override { return port == 80; }
  void on_handshake(const std::shared_ptr<SimConnection>& connection, std::uint16_t) override {
    accepted_ = connection;
    connection->attach(SimSide::server, this);
    connection->establish();
  }
  void take_over(const std::shared_ptr<SimConnection>&, std::uint16_t) override {}
  bool has_work() const override { return false; }
  SimAddress address() const override { return 2; }
  void on_stream(SimConnection& connection) override {
    const std::size_t count = connection.arrived(SimSide::server);
    received_ += connection.take(SimSide::server, count);
    connection.acknowledge(SimSide::server, count);
    is_broken_ = connection.broken(SimSide::server);
  }

  std::shared_ptr<SimConnection> connect() {
    auto connection = std::make_shared<SimConnection>(network_, 64 * 1024, 64 * 1024);
    connection->request(1, 2, 80);
    return connection;
  }
  void run(Duration time) { network_.run_until(network_.now() + time); }

  SimNetwork network_{7, SimFaults::calm()};
  std::shared_ptr<SimConnection> accepted_;
  std::string received_;
  bool is_broken_ = false;
};

TEST_F(SimTopologyTest, an_address_is_read_as_it_was_written) {
  for (const SimAddress each : {1u, 255u, 256u, 70u * 256 + 3}) {
    EXPECT_EQ(host_of(address_text(each)), each % 65'536);
  }
  for (const char* const each : {"", "127.0.0.1", "198.18.", "198.18.1", "198.18.x.1", "::1"}) {
    EXPECT_EQ(host_of(each), 0u) << each;
  }
}

TEST_F(SimTopologyTest, a_port_of_one_host_is_not_that_of_another) {
  EXPECT_TRUE(network_.listens_on(80, 2));
  EXPECT_FALSE(network_.listens_on(80, 1));
  EXPECT_FALSE(network_.listens_on(80));
}

TEST_F(SimTopologyTest, a_stream_keeps_its_order_through_blocks_losses_and_a_rate) {
  const auto connection = connect();
  run(milliseconds(1));
  std::string sent;
  for (int piece = 0; piece < 200; ++piece) {
    SimPath path;
    path.extra_us = {0, 30'000};
    path.loss = 200;
    path.bytes_per_s = piece % 3 == 0 ? 10'000 : 0;
    path.blocked = piece % 4 == 1;
    network_.topology().set_path(1, 2, path);
    const std::string bytes = std::to_string(piece) + " ";
    connection->write(SimSide::peer, bytes);
    sent += bytes;
    run(milliseconds(3));
    ASSERT_EQ(sent.substr(0, received_.size()), received_);
  }
  EXPECT_LT(received_.size(), sent.size());
  network_.topology().heal();
  run(seconds(60));
  EXPECT_EQ(received_, sent);
}

TEST_F(SimTopologyTest, a_block_holds_back_one_direction_alone) {
  const auto connection = connect();
  run(milliseconds(1));
  network_.topology().set_path(2, 1, {.blocked = true});
  connection->write(SimSide::peer, "to the server");
  accepted_->write(SimSide::server, "to the client");
  run(seconds(5));
  EXPECT_EQ(received_, "to the server");
  EXPECT_EQ(connection->arrived(SimSide::peer), 0u);
  network_.topology().set_path(2, 1, {});
  run(seconds(1));
  EXPECT_EQ(connection->take(SimSide::peer, 100), "to the client");
}

TEST_F(SimTopologyTest, bytes_for_a_host_without_power_are_answered_when_it_is_back) {
  const auto connection = connect();
  run(milliseconds(1));
  network_.topology().power_off(2);
  connection->write(SimSide::peer, "lost");
  run(seconds(10));
  EXPECT_EQ(received_, "");
  EXPECT_FALSE(connection->broken(SimSide::peer));
  network_.topology().power_on(2);
  run(seconds(1));
  EXPECT_TRUE(connection->broken(SimSide::peer));
}

TEST_F(SimTopologyTest, an_idle_connection_to_a_host_that_lost_its_power_finds_out_when_it_sends) {
  const auto connection = connect();
  run(milliseconds(1));
  network_.topology().power_off(2);
  network_.topology().power_on(2);
  run(seconds(10));
  EXPECT_FALSE(connection->broken(SimSide::peer));
  connection->write(SimSide::peer, "?");
  run(seconds(1));
  EXPECT_TRUE(connection->broken(SimSide::peer));
}

TEST_F(SimTopologyTest, a_handshake_waits_for_the_power_of_its_host) {
  network_.topology().power_off(2);
  const auto connection = connect();
  run(seconds(3));
  EXPECT_FALSE(connection->opened());
  network_.topology().power_on(2);
  run(seconds(2));
  EXPECT_TRUE(connection->opened());
}

TEST_F(SimTopologyTest, connections_of_two_hosts_are_reset_and_others_stay) {
  const auto connection = connect();
  run(milliseconds(1));
  EXPECT_EQ(network_.topology().break_connections(1, 3), 0u);
  EXPECT_FALSE(connection->broken(SimSide::peer));
  EXPECT_EQ(network_.topology().break_connections(2, 1), 1u);
  EXPECT_TRUE(connection->broken(SimSide::peer));
  EXPECT_TRUE(is_broken_);
  EXPECT_EQ(network_.topology().break_connections(1), 0u);  // it is over
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
