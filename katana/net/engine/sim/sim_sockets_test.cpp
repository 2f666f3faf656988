#include "katana/net/engine/sim/sim_sockets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>

namespace katana::engine {
namespace {

// A server that a test drives: it accepts one connection.
struct Host final : SimHost, SimEnd {
  explicit Host(SimNetwork& of) : network(of) { network.attach(*this); }
  ~Host() { network.detach(*this); }
  bool listens_on(std::uint16_t port) const override { return port == 5432; }
  void on_handshake(const std::shared_ptr<SimConnection>& taken, std::uint16_t) override {
    connection = taken;
    connection->attach(SimSide::server, this);
    connection->establish();
  }
  void take_over(const std::shared_ptr<SimConnection>&, std::uint16_t) override {}
  bool has_work() const override { return false; }
  void on_stream(SimConnection& changed) override {
    const std::size_t count = changed.arrived(SimSide::server);
    if (!reads || count == 0) return;
    received += changed.take(SimSide::server, count);
    changed.acknowledge(SimSide::server, count);
  }
  SimNetwork& network;
  std::shared_ptr<SimConnection> connection;
  std::string received;
  bool reads = true;
};

class SimSocketsTest : public ::testing::Test {
 protected:
  int connect(std::uint16_t port = 5432) {
    const int socket = *sockets.connect({.address = "127.0.0.1", .port = port});
    settle();
    return socket;
  }
  void settle() { network.run_until(network.now() + seconds(1)); }
  SocketCalls::Moved send(int socket, std::string text) {
    const iovec part{text.data(), text.size()};
    return sockets.send(socket, {&part, 1});
  }
  Readiness ready(int socket) const {
    return network.ready_for(socket, {.read = true, .write = true});
  }

  SimNetwork network{1, SimFaults::calm()};
  SimSockets sockets{network};
  Host host{network};
  std::array<char, 64> room{};
};

TEST_F(SimSocketsTest, bytes_go_both_ways) {
  const int socket = *sockets.connect({.address = "127.0.0.1", .port = 5432});
  EXPECT_EQ(ready(socket), Readiness{}) << "the handshake is not over";
  EXPECT_EQ(send(socket, "early").error, EAGAIN);
  settle();
  EXPECT_EQ(ready(socket), (Readiness{.read = false, .write = true}));
  EXPECT_EQ(sockets.take_error(socket), 0);
  EXPECT_EQ(send(socket, "question").bytes, 8U);
  EXPECT_EQ(sockets.receive(socket, room.data(), room.size()).error, EAGAIN);
  settle();
  EXPECT_EQ(host.received, "question");
  host.connection->write(SimSide::server, "answer");
  settle();
  EXPECT_TRUE(ready(socket).read);
  EXPECT_EQ(sockets.receive(socket, room.data(), 2).bytes, 2U);
  EXPECT_TRUE(ready(socket).read) << "the rest is still there";
  const auto rest = sockets.receive(socket, room.data(), room.size());
  EXPECT_EQ(std::string(room.data(), rest.bytes), "swer");
  EXPECT_FALSE(ready(socket).read);
  sockets.close(socket);
}

TEST_F(SimSocketsTest, a_port_without_a_listener_refuses) {
  const int socket = connect(1);
  EXPECT_TRUE(ready(socket).write);
  EXPECT_EQ(sockets.take_error(socket), ECONNREFUSED);
  sockets.close(socket);
}

TEST_F(SimSocketsTest, the_end_comes_behind_the_last_byte) {
  const int socket = connect();
  host.connection->write(SimSide::server, "x");
  host.connection->close(SimSide::server);
  settle();
  EXPECT_EQ(sockets.receive(socket, room.data(), room.size()).bytes, 1U);
  EXPECT_TRUE(ready(socket).read);
  const auto end = sockets.receive(socket, room.data(), room.size());
  EXPECT_EQ(end.bytes, 0U);
  EXPECT_EQ(end.error, 0);
  sockets.close(socket);
}

TEST_F(SimSocketsTest, a_reset_is_an_error_of_both_directions) {
  const int socket = connect();
  host.connection->reset(SimSide::server);
  settle();
  EXPECT_EQ(ready(socket), (Readiness{.read = true, .write = true}));
  EXPECT_EQ(sockets.receive(socket, room.data(), room.size()).error, ECONNRESET);
  EXPECT_EQ(send(socket, "x").error, EPIPE);
  EXPECT_EQ(sockets.take_error(socket), ECONNRESET);
  sockets.close(socket);
}

TEST_F(SimSocketsTest, a_server_that_does_not_read_takes_its_window_of_bytes) {
  const int socket = connect();
  host.reads = false;
  const std::string much(1 << 20, 'x');
  std::size_t sent = 0;
  for (SocketCalls::Moved moved; (moved = send(socket, much)).error == 0;) sent += moved.bytes;
  EXPECT_LT(sent, much.size());
  EXPECT_FALSE(ready(socket).write);
  host.reads = true;
  host.on_stream(*host.connection);
  settle();
  EXPECT_TRUE(ready(socket).write);
  settle();
  sockets.close(socket);
}

TEST_F(SimSocketsTest, a_closed_socket_is_none) {
  const int socket = connect();
  sockets.close(socket);
  settle();
  EXPECT_TRUE(host.connection->ended(SimSide::server));
  EXPECT_EQ(sockets.receive(socket, room.data(), room.size()).error, EBADF);
  EXPECT_EQ(ready(socket), Readiness{});
  host.connection->close(SimSide::server);
  EXPECT_TRUE(network.descriptors().empty());
  EXPECT_NE(connect(), socket) << "its number is not used again";
}

TEST_F(SimSocketsTest, faults_cut_what_is_read_and_sent) {
  const int socket = connect();
  SimFaults faults = SimFaults::calm();
  faults.fragment = faults.short_send = 1024;
  network.set_faults(faults);
  std::size_t sent = 0;
  std::size_t least = 1000;
  for (int count = 0; count < 50; ++count) {
    const std::size_t bytes = send(socket, std::string(100, 'x')).bytes;
    least = std::min(least, bytes);
    sent += bytes;
  }
  EXPECT_LT(least, 100U);
  settle();
  EXPECT_EQ(host.received.size(), sent);
  sockets.close(socket);
}

TEST(SimNetworkTimer, a_timer_does_not_hold_up_quiescence) {
  SimNetwork network(1, SimFaults::calm());
  bool ran = false;
  const auto key = network.timer(seconds(5), [&] { ran = true; });
  EXPECT_TRUE(network.quiescent());
  const auto event = network.after(seconds(1), [] {});
  EXPECT_FALSE(network.quiescent());
  network.cancel(event);
  EXPECT_TRUE(network.quiescent());
  network.run_until(network.now() + seconds(6));
  EXPECT_TRUE(ran);
  network.cancel(key);
  network.cancel(network.timer(seconds(5), [] {}));
  (void)network.after(seconds(1), [] {});
  EXPECT_FALSE(network.quiescent()) << "a timer that was cancelled is not counted";
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
