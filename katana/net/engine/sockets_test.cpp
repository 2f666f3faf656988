#include "katana/net/engine/sockets.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace katana::engine {
namespace {

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  EXPECT_EQ(getsockopt(socket, level, name, &value, &size), 0);
  return value;
}

TEST(Sockets, an_address_that_is_no_number_is_refused_with_an_example) {
  for (const char* const address : {"", "localhost", "127.0.0.1.1", "127.0.0", "::g", "[::1]"}) {
    const auto listener = open_listener({.address = address});
    ASSERT_FALSE(listener) << address;
    EXPECT_EQ(listener.error().code(), Code::invalid_argument);
    EXPECT_NE(listener.error().describe().find("'" + std::string(address) + "'"),
              std::string::npos);
    EXPECT_NE(listener.error().describe().find("127.0.0.1"), std::string::npos);
  }
}

TEST(Sockets, an_address_that_this_machine_does_not_have_is_an_error_that_says_so) {
  const auto listener = open_listener({.address = "192.0.2.1"});  // reserved for documentation
  ASSERT_FALSE(listener);
  EXPECT_NE(listener.error().describe().find("no such address"), std::string::npos)
      << listener.error().describe();
}

TEST(Sockets, the_kernel_chooses_a_port_when_none_is_given) {
  const auto first = open_listener({});
  const auto second = open_listener({});
  ASSERT_TRUE(first && second);
  EXPECT_NE(port_of(*first), 0);
  EXPECT_NE(port_of(*first), port_of(*second));
  close(*first);
  close(*second);
}

TEST(Sockets, a_listener_has_the_options_that_accepted_sockets_inherit) {
  const auto listener = open_listener({});
  ASSERT_TRUE(listener);
  EXPECT_EQ(option(*listener, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option(*listener, SOL_SOCKET, SO_REUSEPORT), 1);
  EXPECT_GT(option(*listener, IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
  close(*listener);
  const auto speaks = open_listener({.peer_speaks_first = false});
  ASSERT_TRUE(speaks);
  EXPECT_EQ(option(*speaks, IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
  close(*speaks);
}

TEST(Sockets, a_connection_asks_a_silent_peer_whether_it_is_there_if_it_is_to) {
  const auto listener = open_listener({});
  ASSERT_TRUE(listener);
  const auto plain = open_connection({.port = port_of(*listener)});
  ASSERT_TRUE(plain);
  EXPECT_EQ(option(*plain, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_EQ(option(*plain, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
  const auto asks =
      open_connection({.port = port_of(*listener), .vanished_after = milliseconds(12'999)});
  ASSERT_TRUE(asks);
  EXPECT_EQ(option(*asks, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(*asks, IPPROTO_TCP, TCP_KEEPIDLE), 6);
  EXPECT_EQ(option(*asks, IPPROTO_TCP, TCP_KEEPINTVL), 2);
  EXPECT_EQ(option(*asks, IPPROTO_TCP, TCP_USER_TIMEOUT), 12'000);
  for (const int each : {*listener, *plain, *asks}) close(each);
}

TEST(Sockets, a_port_is_taken_only_while_somebody_listens_on_it) {
  const auto listener = open_listener({});
  ASSERT_TRUE(listener);
  const std::uint16_t port = port_of(*listener);
  EXPECT_FALSE(open_listener({.port = port}));
  close(*listener);
  const auto again = open_listener({.port = port});
  ASSERT_TRUE(again) << again.error().describe();
  close(*again);
}

class SharedPort : public testing::Test {
 protected:
  SharedPort() {
    listeners[0] = open_listener({.peer_speaks_first = false}).value();
    for (int index = 1; index < 3; ++index) {
      listeners[index] =
          open_listener(
              {.port = port_of(listeners[0]), .peer_speaks_first = false, .must_be_free = false})
              .value();
    }
  }
  ~SharedPort() override {
    for (const int each : listeners) close(each);
  }
  // The number of connections that each listener gets, of 64.
  std::array<int, 3> given_to_each() {
    std::array<int, 3> counts{};
    for (int connection = 0; connection < 64; ++connection) {
      const int client = open_connection({.port = port_of(listeners[0])}).value();
      pollfd queues[3];
      for (int index = 0; index < 3; ++index) queues[index] = {listeners[index], POLLIN, 0};
      EXPECT_EQ(poll(queues, 3, -1), 1);
      for (int index = 0; index < 3; ++index) {
        const int accepted = accept4(listeners[index], nullptr, nullptr, SOCK_CLOEXEC);
        counts[index] += accepted >= 0;
        close(accepted);
      }
      close(client);
    }
    return counts;
  }
  int listeners[3];
};

TEST_F(SharedPort, connections_go_to_those_that_are_preferred_until_nobody_is) {
  const unsigned some[] = {0, 2};
  ASSERT_TRUE(prefer_listeners(listeners[1], some));
  auto counts = given_to_each();
  EXPECT_EQ(counts[1], 0);
  EXPECT_GT(counts[0], 0);
  EXPECT_GT(counts[2], 0);
  const unsigned one[] = {1};
  ASSERT_TRUE(prefer_listeners(listeners[0], one));
  EXPECT_EQ(given_to_each()[1], 64);
  ASSERT_TRUE(prefer_listeners(listeners[0], {}));
  ASSERT_TRUE(prefer_listeners(listeners[0], {})) << "a second time changes nothing";
  counts = given_to_each();
  for (const int count : counts) EXPECT_GT(count, 0);
}

TEST(Sockets, who_gets_connections_is_chosen_of_sockets_alone) {
  const unsigned one[] = {0};
  const auto chosen = prefer_listeners(-1, one);
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().describe().find("choose who gets new connections"), std::string::npos);
}

TEST(Sockets, listens_on_ipv6_where_the_machine_has_it) {
  const auto listener = open_listener({.address = "::1"});
  if (!listener) GTEST_SKIP() << listener.error().describe();
  const int client = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  address.sin6_port = htons(port_of(*listener));
  ASSERT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(peer_of(client).text().bytes(), "[::1]:" + std::to_string(port_of(*listener)));
  close(client);
  close(*listener);
}

TEST(Sockets, what_is_no_socket_has_no_peer_and_no_port) {
  EXPECT_TRUE(peer_of(-1).text().bytes().empty());
  EXPECT_EQ(port_of(-1), 0);
}

TEST(Sockets, a_systems_error_says_what_was_done_what_happened_and_what_to_do) {
  const Error descriptors = system_error("accept", EMFILE);
  EXPECT_EQ(descriptors.code(), Code::resource_exhausted);
  EXPECT_EQ(descriptors.message(),
            "accept: Too many open files; raise the limit of open files (ulimit -n)");
  EXPECT_EQ(system_error("listen", EACCES).code(), Code::permission_denied);
  EXPECT_EQ(system_error("listen", EADDRINUSE).code(), Code::already_exists);
  EXPECT_EQ(system_error("listen", EIO).code(), Code::unavailable);
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
