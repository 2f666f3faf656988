// EngineBreaks: what arrived before a connection broke, and how its end is told, the same for every
// engine on real sockets.
//
// Owns       nothing; a module's test instantiates the suite with its forms
//            (INSTANTIATE_TYPED_TEST_SUITE_P).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "katana/base/system/file_fixture_test.hpp"
#include "katana/net/engine/real_fixture_test.hpp"

namespace katana::engine {

// A server of a test's own: what it says is scripted, and it may leave without reading.
class RawServer {
 public:
  RawServer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = Client::loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~RawServer() { ::close(fd_); }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  // The next connection, which is here or on its way.
  int accept() const {
    const int fd = ::accept(fd_, nullptr, nullptr);
    EXPECT_GE(fd, 0);
    return fd;
  }
  // Unread input makes it a reset.
  static void say_and_leave(int fd, std::string_view words) {
    EXPECT_EQ(::send(fd, words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
    ::close(fd);
  }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

template <class Form>
class EngineBreaks : public EngineTest<Form> {};
TYPED_TEST_SUITE_P(EngineBreaks);

#define KATANA_CASE(name) TYPED_TEST_P(EngineBreaks, name)

KATANA_CASE(what_arrived_before_a_reset_comes_before_it_is_told) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1000});
  auto client = this->connect(server, server.listen(), "x");
  const std::string words(3500, 'w');
  ASSERT_EQ(client->send(words), words.size());
  client->reset();
  std::string before_the_end;
  server.at_closed = [&](Link link, Closed) {
    before_the_end = server.received;
    server.engine.close(link);
  };
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(before_the_end, "x" + words);
  EXPECT_TRUE(server.input_ends.empty());
  this->turn_a_little(server);
  EXPECT_EQ(server.broken.size(), 1u);
}

KATANA_CASE(a_send_that_finds_a_reset_is_followed_by_what_arrived_before) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  client->send("refused");
  client->reset();
  Sent result = Sent::completed;
  server.send(server.links[0], std::string(200'000, 'u'), &result);
  EXPECT_EQ(result, Sent::pending);
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(server.received, "xrefused");
  EXPECT_TRUE(server.input_ends.empty());
  EXPECT_EQ(server.sents, 0);
  EXPECT_NE(server.engine.failure(server.links[0]), 0);
  server.send(server.links[0], "more", &result);
  EXPECT_EQ(result, Sent::failed);
}

KATANA_CASE(a_send_made_while_bytes_are_delivered_that_finds_a_reset_ends_the_link_too) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1000});
  auto client = this->connect(server, server.listen(), "x");
  client->send(std::string(3000, 'w'));
  client->reset();
  bool pending = false;
  server.at_bytes = [&](Link link, Bytes) {
    if (pending) return;
    Sent result = Sent::completed;
    while (result == Sent::completed) server.send(link, std::string(200'000, 'u'), &result);
    pending = true;
  };
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_TRUE(pending);
  EXPECT_EQ(server.received.size(), 3001u);
  EXPECT_EQ(server.broken.size(), 1u);
}

KATANA_CASE(a_pending_send_ends_with_its_link_and_not_before_the_bytes_that_arrived) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  Sent result = Sent::completed;
  while (result == Sent::completed) {
    server.send(server.links[0], std::string(200'000, 'u'), &result);
  }
  ASSERT_EQ(result, Sent::pending);
  this->turn_a_little(server);
  client->send("refused");
  client->reset();
  // An engine may say that there is room, for the next send to find out that there is none.
  server.at_sent = [&](Link link, std::size_t) {
    server.send(link, std::string(200'000, 'u'), &result);
    EXPECT_NE(result, Sent::failed);
  };
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(server.received, "xrefused");
  EXPECT_EQ(server.broken.size(), 1u);
}

KATANA_CASE(a_file_that_finds_a_reset_is_followed_by_what_arrived_before) {
  typename TestFixture::TestServer server;
  TestFile file("0123456789");
  auto client = this->connect(server, server.listen(), "x");
  client->send("refused");
  client->reset();
  Sent result = Sent::completed;
  // The first may be told of the reset itself, and another one that there was one.
  for (int round = 0; round < 3 && result == Sent::completed; ++round) {
    std::size_t accepted = 0;
    result = server.engine.send_file(server.links[0], {}, file.all(), accepted);
  }
  EXPECT_EQ(result, Sent::pending);
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(server.received, "xrefused");
}

KATANA_CASE(a_paused_link_is_told_of_a_reset_at_once_and_may_then_read_what_is_left) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1000});
  auto client = this->connect(server, server.listen(), "x");
  const Link link = server.links[0];
  server.engine.pause_receive(link);
  client->send(std::string(2500, 'w'));
  this->turn_a_little(server);
  client->reset();
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(server.received, "x");
  Sent result = Sent::completed;
  server.send(link, "anybody there?", &result);
  EXPECT_EQ(result, Sent::failed);
  this->expect_rest(server);
  EXPECT_EQ(server.broken.size(), 1u);
  server.at_bytes = [&](Link to, Bytes) { server.engine.pause_receive(to); };
  ASSERT_TRUE(this->until(server, [&] {
    server.engine.resume_receive(link);
    return server.broken.size() == 2;
  }));
  EXPECT_EQ(server.received.size(), 2501u);
  EXPECT_TRUE(server.input_ends.empty());
  server.engine.close(link);
  this->turn_a_little(server);
  EXPECT_EQ(server.broken.size(), 2u);
}

KATANA_CASE(a_paused_link_whose_send_finds_a_reset_is_told_without_being_resumed) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.engine.pause_receive(server.links[0]);
  client->send("unread");
  client->reset();
  Sent result = Sent::completed;
  server.send(server.links[0], std::string(200'000, 'u'), &result);
  EXPECT_EQ(result, Sent::pending);
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  EXPECT_EQ(server.received, "x");
}

KATANA_CASE(a_reset_behind_the_end_of_the_input_is_told) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  auto silent = this->connect(server, port, "x");
  auto sending = this->connect(server, port, "x");
  for (auto* const each : {silent.get(), sending.get()}) each->end();
  ASSERT_TRUE(this->until(server, [&] { return server.input_ends.size() == 2; }));
  for (auto* const each : {silent.get(), sending.get()}) each->reset();
  Sent result = Sent::completed;
  server.send(server.links[1], std::string(200'000, 'u'), &result);
  EXPECT_EQ(result, Sent::pending);
  ASSERT_TRUE(this->until(server, [&] { return server.broken.size() == 2; }));
  EXPECT_EQ(server.received, "xx");
}

KATANA_CASE(what_a_server_said_before_it_left_reaches_who_is_still_sending) {
  RawServer server;
  for (const bool turns_first : {false, true}) {
    typename TestFixture::TestServer client;
    const auto link = client.engine.connect({.port = server.port()});
    ASSERT_TRUE(link);
    const int served = server.accept();
    bool pending = false;
    const auto send = [&](Link to) {
      Sent result = Sent::completed;
      while (result == Sent::completed) client.send(to, std::string(500'000, 'u'), &result);
      EXPECT_NE(result, Sent::failed);
      pending = true;
    };
    client.at_sent = [&](Link to, std::size_t) { send(to); };
    send(*link);
    ASSERT_TRUE(this->until(client, [&] {
      char byte;
      return ::recv(served, &byte, 1, MSG_DONTWAIT) == 1;
    }));
    server.say_and_leave(served, "413");
    if (turns_first) this->turn_a_little(client);
    ASSERT_TRUE(this->until(client, [&] { return !client.broken.empty(); }));
    EXPECT_TRUE(pending);
    EXPECT_EQ(client.received, "413");
  }
}

KATANA_CASE(bytes_and_the_end_of_a_unix_domain_socket_are_both_told) {
  const std::string path = "/tmp/katana_breaks_" + std::to_string(::getpid()) + ".sock";
  ::unlink(path.c_str());
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  path.copy(local.sun_path, sizeof local.sun_path - 1);
  const auto* const address = reinterpret_cast<const sockaddr*>(&local);
  const int bound = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(bound, address, sizeof local), 0);
  ASSERT_EQ(::listen(bound, 8), 0);
  for (const bool both_at_once : {true, false}) {
    typename TestFixture::TestServer server;
    ASSERT_TRUE(server.engine.listen({.socket = bound}));
    const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(client, address, sizeof local), 0);
    for (const std::string word : {"one", "two"}) {
      ASSERT_EQ(::send(client, word.data(), word.size(), MSG_NOSIGNAL), 3);
      if (both_at_once && word == "two") ::close(client);
      ASSERT_TRUE(this->until(server, [&] { return server.received.ends_with(word); }));
    }
    if (!both_at_once) ::close(client);
    ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
    EXPECT_EQ(server.received, "onetwo");
  }
  ::close(bound);
  ::unlink(path.c_str());
}

#undef KATANA_CASE

REGISTER_TYPED_TEST_SUITE_P(
    EngineBreaks, what_arrived_before_a_reset_comes_before_it_is_told,
    a_send_that_finds_a_reset_is_followed_by_what_arrived_before,
    a_send_made_while_bytes_are_delivered_that_finds_a_reset_ends_the_link_too,
    a_pending_send_ends_with_its_link_and_not_before_the_bytes_that_arrived,
    a_file_that_finds_a_reset_is_followed_by_what_arrived_before,
    a_paused_link_is_told_of_a_reset_at_once_and_may_then_read_what_is_left,
    a_paused_link_whose_send_finds_a_reset_is_told_without_being_resumed,
    a_reset_behind_the_end_of_the_input_is_told,
    what_a_server_said_before_it_left_reaches_who_is_still_sending,
    bytes_and_the_end_of_a_unix_domain_socket_are_both_told);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
