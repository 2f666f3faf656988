// EngineAccepts: listeners, descriptors that run out, waking and waiting, the same for every
// engine.
//
// Owns       nothing; a module's test instantiates the suite with its forms
//            (INSTANTIATE_TYPED_TEST_SUITE_P).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "katana/net/engine/real_fixture_test.hpp"

namespace katana::engine {

template <class Form>
class EngineAccepts : public EngineTest<Form> {};
TYPED_TEST_SUITE_P(EngineAccepts);

#define KATANA_CASE(name) TYPED_TEST_P(EngineAccepts, name)

// ---- accepting ----

KATANA_CASE(each_link_knows_the_listener_it_came_from) {
  typename TestFixture::TestServer server;
  const std::uint16_t first = server.listen();
  const std::uint16_t second = server.listen();
  EXPECT_NE(first, second);
  auto one = this->connect(server, second, "x");
  auto other = this->connect(server, first, "x");
  EXPECT_EQ(server.listeners, (std::vector<Listener>{1, 0}));
}

// The address comes with the connection: asked for afterwards, a socket that was reset has none.
KATANA_CASE(a_peer_that_reset_before_it_was_accepted_is_known_or_refused_as_unknown) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  std::string expected;
  {
    Client client(port);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ASSERT_EQ(getsockname(client.fd(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    expected = "127.0.0.1:" + std::to_string(ntohs(own.sin_port));
    client.send("x");
    const linger at_once{1, 0};
    ASSERT_EQ(setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  }
  ASSERT_TRUE(this->until(server, [&] { return !server.peers.empty(); }));
  // io_uring has to ask the socket; epoll's accept4() is told.
  EXPECT_EQ(server.peers[0], TestFixture::asks_peers ? "" : expected);
}

KATANA_CASE(a_peer_on_a_unix_domain_socket_is_known_by_its_user) {
  typename TestFixture::TestServer server;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // In the abstract namespace, under a name of this process's own.
  const std::string name = "katana-accept-cases-" + std::to_string(getpid());
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_TRUE(server.engine.listen({.socket = listener}));
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::send(client, "x", 1, MSG_NOSIGNAL), 1);
  ::close(client);
  ASSERT_TRUE(this->until(server, [&] { return server.received == "x"; }));
  EXPECT_EQ(server.peers[0], "unix:uid=" + std::to_string(getuid()));
  ::close(listener);
}

KATANA_CASE(a_peer_that_waits_for_our_first_word_is_accepted_when_it_need_not_speak) {
  typename TestFixture::TestServer server;
  server.at_accepted = [&](Link link) {
    EXPECT_EQ(server.send(link, "welcome"), 7u);
    return true;
  };
  auto client = this->connect(server, server.listen(false), "");
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->received == "welcome";
  }));
  client->send("thanks");
  ASSERT_TRUE(this->until(server, [&] { return server.received == "thanks"; }));
}

KATANA_CASE(output_that_is_pending_before_the_link_is_watched_is_told_of_room) {
  typename TestFixture::TestServer server;
  const std::string text(20'000'000, 'x');
  std::size_t sent = 0;
  const auto go_on = [&](Link link) {
    Sent result = Sent::completed;
    while (sent < text.size() && result == Sent::completed) {
      sent += server.send(link, std::string_view(text).substr(sent), &result);
    }
  };
  server.at_accepted = [&](Link link) {
    go_on(link);
    return true;
  };
  server.at_sent = [&](Link link, std::size_t) { go_on(link); };
  auto client = this->connect(server, server.listen(false), "");
  EXPECT_LT(sent, text.size());
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->received.size() == text.size();
  }));
}

KATANA_CASE(a_connection_that_is_detached_is_served_by_the_engine_that_adopts_it) {
  typename TestFixture::TestServer acceptor({.links_max = 1});
  typename TestFixture::TestServer other;
  int socket = -1;
  acceptor.at_accepted = [&](Link link) {
    socket = acceptor.engine.detach(link);
    return true;
  };
  const std::uint16_t port = acceptor.listen();
  for (int round = 0; round < 3; ++round) {
    Client client(port);
    client.send("hello");
    ASSERT_TRUE(this->until(acceptor, [&] { return socket >= 0; })) << "its link is free";
    this->turn_a_little(acceptor);
    const auto link = other.engine.adopt(std::exchange(socket, -1));
    ASSERT_TRUE(link);
    ASSERT_TRUE(this->until(other, [&] { return other.received == "hello"; }));
    client.send(", again");
    ASSERT_TRUE(this->until(other, [&] { return other.received == "hello, again"; }));
    EXPECT_EQ(other.send(*link, "welcome"), 7u);
    other.engine.close(*link);
    ASSERT_TRUE(this->until(other, [&] {
      client.receive();
      return client.saw_end;
    }));
    EXPECT_EQ(client.received, "welcome");
    other.received.clear();
  }
  EXPECT_EQ(acceptor.received, "");
  EXPECT_TRUE(other.links.empty()) << "it has accepted nothing";
}

KATANA_CASE(a_detached_connection_that_is_discarded_is_reset) {
  typename TestFixture::TestServer server;
  int socket = -1;
  server.at_accepted = [&](Link link) {
    socket = server.engine.detach(link);
    return true;
  };
  Client client(server.listen());
  client.send("hello");
  ASSERT_TRUE(this->until(server, [&] { return socket >= 0; }));
  server.engine.discard(socket);
  ASSERT_TRUE(this->until(server, [&] {
    client.receive();
    return client.saw_reset;
  }));
}

KATANA_CASE(a_refused_link_is_closed_and_its_place_is_free) {
  typename TestFixture::TestServer server({.links_max = 1});
  server.at_accepted = [](Link) { return false; };
  const std::uint16_t port = server.listen();
  for (int count = 0; count < 3; ++count) {
    auto client = this->connect(server, port, "x");
    ASSERT_TRUE(this->until(server, [&] {
      client->receive();
      return client->saw_end || client->saw_reset;
    }));
  }
  EXPECT_TRUE(server.received.empty());
}

KATANA_CASE(a_full_table_leaves_connections_in_the_queue_until_a_link_closes) {
  typename TestFixture::TestServer server({.links_max = 2});
  const std::uint16_t port = server.listen();
  std::vector<std::unique_ptr<Client>> clients;
  for (int count = 0; count < 4; ++count) {
    clients.push_back(std::make_unique<Client>(port));
    clients.back()->send("x");
  }
  ASSERT_TRUE(this->until(server, [&] { return server.links.size() == 2; }));
  this->turn_a_little(server);
  EXPECT_EQ(server.links.size(), 2u);
  this->expect_rest(server);  // it does not spin on the queue meanwhile
  for (std::size_t expected : {3u, 4u}) {
    server.engine.close(server.links[expected - 3]);
    ASSERT_TRUE(this->until(server, [&] { return server.links.size() == expected; }));
  }
  ASSERT_TRUE(this->until(server, [&] { return server.received == "xxxx"; }));
}

KATANA_CASE(accepting_can_be_paused_and_resumed) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  server.engine.pause_accept();
  Client client(port);
  client.send("x");
  this->turn_a_little(server);
  EXPECT_TRUE(server.links.empty());
  server.engine.resume_accept();
  ASSERT_TRUE(this->until(server, [&] { return server.received == "x"; }));
}

// Lets this process open no further descriptor until it is destroyed.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest_free = dup(0);
    EXPECT_GE(lowest_free, 0);
    close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_;
};

KATANA_CASE(without_descriptors_accepting_pauses_and_the_links_there_are_go_on) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  auto old = this->connect(server, port, "x");
  // io_uring reads the limit when an accept begins, not when a connection comes.
  server.engine.pause_accept();
  this->turn_a_little(server);
  Client newcomer(port);
  newcomer.send("new");
  server.received.clear();
  {
    const NoDescriptors none;
    server.engine.resume_accept();
    ASSERT_TRUE(this->until(server, [&] { return !server.accept_failures.empty(); }));
    EXPECT_EQ(server.accept_failures[0], AcceptFailure::descriptors);
    old->send("old");
    ASSERT_TRUE(this->until(server, [&] { return server.received == "old"; }));
    this->turn_a_little(server);
    EXPECT_EQ(server.accept_failures.size(), 1u);  // told once, not in a loop
    EXPECT_EQ(server.links.size(), 1u);
  }
  server.engine.resume_accept();
  ASSERT_TRUE(this->until(server, [&] { return server.received == "oldnew"; }));
}

// ---- the end of listening ----

inline bool is_refused(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Client::loopback(port);
  const bool refused =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(fd);
  return refused;
}

KATANA_CASE(closing_listeners_serves_who_is_connected_already_and_then_refuses) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  server.at_bytes = [&](Link link, Bytes) { server.send(link, "served"); };
  // More than are accepted in one go, and none of them has been accepted yet.
  std::vector<std::unique_ptr<Client>> clients;
  for (int count = 0; count < 200; ++count) {
    clients.push_back(std::make_unique<Client>(port));
    clients.back()->send("x");
  }
  EXPECT_TRUE(server.engine.accepting());
  server.engine.close_listeners();
  EXPECT_TRUE(server.engine.accepting());
  ASSERT_TRUE(this->until(server, [&] { return !server.engine.accepting(); }));
  ASSERT_TRUE(this->until(server, [&] { return server.links.size() == clients.size(); }));
  for (const auto& client : clients) {
    ASSERT_TRUE(this->until(server, [&] {
      client->receive();
      return client->received == "served";
    }));
  }
  EXPECT_TRUE(is_refused(port));
}

KATANA_CASE(no_handshake_begins_once_listeners_are_closing) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  server.engine.close_listeners();
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Client::loopback(port);
  EXPECT_NE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(errno, EINPROGRESS);
  ASSERT_TRUE(this->until(server, [&] { return !server.engine.accepting(); }));
  EXPECT_TRUE(server.links.empty());
  ::close(fd);
}

KATANA_CASE(listeners_that_were_paused_for_want_of_descriptors_still_close) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  Client waiting(port);
  waiting.send("x");
  {
    const NoDescriptors none;
    ASSERT_TRUE(this->until(server, [&] { return !server.accept_failures.empty(); }));
    server.engine.close_listeners();
    this->turn_a_little(server);
    EXPECT_TRUE(server.engine.accepting());
  }
  server.engine.resume_accept();
  ASSERT_TRUE(this->until(server, [&] { return !server.engine.accepting(); }));
  EXPECT_EQ(server.received, "x");
}

KATANA_CASE(closing_listeners_twice_or_without_any_does_no_harm) {
  typename TestFixture::TestServer server;
  server.engine.close_listeners();
  server.engine.close_listeners();
  ASSERT_TRUE(this->until(server, [&] { return !server.engine.accepting(); }));
}

// ---- errors ----

KATANA_CASE(a_port_that_somebody_listens_on_is_refused_and_named) {
  typename TestFixture::TestServer server, other;
  const std::uint16_t port = server.listen();
  const auto taken = other.engine.listen({.port = port});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::already_exists);
  EXPECT_NE(taken.error().describe().find("127.0.0.1:" + std::to_string(port)), std::string::npos)
      << taken.error().describe();
  // On purpose it may be shared: every reactor has its own listener.
  EXPECT_TRUE(other.engine.listen({.port = port, .must_be_free = false}));
}

// ---- waiting and waking ----

KATANA_CASE(a_turn_calls_on_turn_once_whatever_happens) {
  typename TestFixture::TestServer server;
  server.engine.turn(Duration{});
  EXPECT_EQ(server.turns, 1);
  Client client(server.listen());
  client.send("x");
  ASSERT_TRUE(this->until(server, [&] { return server.deliveries == 1; }));
  const int before = server.turns;
  server.engine.turn(Duration{});
  EXPECT_EQ(server.turns, before + 1);
}

KATANA_CASE(a_turn_with_nothing_to_do_waits_its_time_out_and_not_less) {
  typename TestFixture::TestServer server;
  server.engine.turn(Duration{});
  const Instant start = server.engine.now();
  server.engine.turn(microseconds(5'500));
  EXPECT_GE(server.engine.now() - start, microseconds(5'500));
}

KATANA_CASE(wake_ends_the_wait_of_a_turn) {
  typename TestFixture::TestServer server;
  server.engine.turn(Duration{});
  const Instant start = server.engine.now();
  std::thread waker([&] { server.engine.wake(); });
  server.engine.turn(seconds(60));
  waker.join();
  EXPECT_LT(server.engine.now() - start, seconds(30));
}

KATANA_CASE(wake_before_a_turn_ends_its_wait_and_not_that_of_the_one_after) {
  typename TestFixture::TestServer server;
  for (int count = 0; count < 100; ++count) server.engine.wake();
  server.engine.turn(seconds(60));
  const Instant start = server.engine.now();
  server.engine.turn(milliseconds(10));
  EXPECT_GE(server.engine.now() - start, milliseconds(9));
}

KATANA_CASE(threads_may_wake_the_engine_all_the_time) {
  typename TestFixture::TestServer server;
  std::vector<std::thread> wakers;
  for (int count = 0; count < 3; ++count) {
    wakers.emplace_back([&] {
      for (int wakes = 0; wakes < 2000; ++wakes) server.engine.wake();
    });
  }
  Client client(server.listen());
  client.send("x");
  EXPECT_TRUE(this->until(server, [&] { return server.received == "x"; }));
  for (std::thread& each : wakers) each.join();
}

#undef KATANA_CASE

REGISTER_TYPED_TEST_SUITE_P(EngineAccepts, each_link_knows_the_listener_it_came_from,
                            a_peer_that_reset_before_it_was_accepted_is_known_or_refused_as_unknown,
                            a_peer_on_a_unix_domain_socket_is_known_by_its_user,
                            a_peer_that_waits_for_our_first_word_is_accepted_when_it_need_not_speak,
                            output_that_is_pending_before_the_link_is_watched_is_told_of_room,
                            a_connection_that_is_detached_is_served_by_the_engine_that_adopts_it,
                            a_detached_connection_that_is_discarded_is_reset,
                            a_refused_link_is_closed_and_its_place_is_free,
                            a_full_table_leaves_connections_in_the_queue_until_a_link_closes,
                            accepting_can_be_paused_and_resumed,
                            without_descriptors_accepting_pauses_and_the_links_there_are_go_on,
                            closing_listeners_serves_who_is_connected_already_and_then_refuses,
                            no_handshake_begins_once_listeners_are_closing,
                            listeners_that_were_paused_for_want_of_descriptors_still_close,
                            closing_listeners_twice_or_without_any_does_no_harm,
                            a_port_that_somebody_listens_on_is_refused_and_named,
                            a_turn_calls_on_turn_once_whatever_happens,
                            a_turn_with_nothing_to_do_waits_its_time_out_and_not_less,
                            wake_ends_the_wait_of_a_turn,
                            wake_before_a_turn_ends_its_wait_and_not_that_of_the_one_after,
                            threads_may_wake_the_engine_all_the_time);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
