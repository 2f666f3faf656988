#include "katana/net/engine/socket_calls.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "katana/net/engine/sockets.hpp"

namespace katana::engine {
namespace {

TEST(KernelSockets, a_pair_moves_bytes_until_its_end) {
  SocketCalls& calls = kernel_sockets();
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  std::array<char, 16> room{};
  EXPECT_EQ(calls.receive(pair[0], room.data(), room.size()).error, EAGAIN) << "it does not wait";
  std::string text = "bytes";
  const iovec part{text.data(), text.size()};
  EXPECT_EQ(calls.send(pair[1], {&part, 1}).bytes, 5U);
  EXPECT_EQ(calls.receive(pair[0], room.data(), room.size()).bytes, 5U);
  calls.close(pair[1]);
  const auto end = calls.receive(pair[0], room.data(), room.size());
  EXPECT_EQ(end.bytes, 0U);
  EXPECT_EQ(end.error, 0);
  EXPECT_EQ(calls.send(pair[0], {&part, 1}).error, EPIPE);
  calls.close(pair[0]);
  EXPECT_EQ(calls.receive(pair[0], room.data(), room.size()).error, EBADF);
}

TEST(KernelSockets, a_socket_connects_to_a_listener) {
  const auto listener = open_listener({.address = "127.0.0.1", .port = 0});
  ASSERT_TRUE(listener) << listener.error().describe();
  const auto socket =
      kernel_sockets().connect({.address = "127.0.0.1", .port = port_of(*listener)});
  ASSERT_TRUE(socket) << socket.error().describe();
  EXPECT_EQ(kernel_sockets().take_error(*socket), 0);
  kernel_sockets().close(*socket);
  ::close(*listener);
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
