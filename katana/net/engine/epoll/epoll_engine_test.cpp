// The forms of the epoll engine on real sockets: the contract, and its cost.
#include "katana/net/engine/epoll/epoll_forms_test.hpp"

#include <algorithm>
#include "katana/net/engine/stream_cases_test.hpp"
#include "katana/net/engine/system_calls_test.hpp"

namespace katana::engine {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Epoll, EngineStreams, AllForms, FormNames);

template <class Form>
class EpollCosts : public EngineTest<Form> {};
TYPED_TEST_SUITE(EpollCosts, Forms, FormNames);

#define KATANA_TEST(name) TYPED_TEST(EpollCosts, name)

KATANA_TEST(a_connection_with_one_request_costs_accept_recv_send_and_close) {
  if (!system_calls_are_counted) GTEST_SKIP();
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes) {
    server.send(link, "answer");
    server.engine.close(link);
  };
  const std::uint16_t port = server.listen();
  Client client(port);
  client.send("question");
  system_calls = {};
  ASSERT_TRUE(this->until(server, [&] { return server.deliveries == 1; }));
  EXPECT_EQ(system_calls.receive, 1u);
  EXPECT_EQ(system_calls.send, 1u);
  EXPECT_EQ(system_calls.control, 0u);
  EXPECT_EQ(system_calls.option, 0u);
  EXPECT_EQ(system_calls.accept, 2u);  // the second finds that no other one waits
  EXPECT_EQ(system_calls.peer, 0u);    // the accept returned the address
}

KATANA_TEST(a_request_on_a_kept_connection_costs_recv_and_send) {
  if (!system_calls_are_counted) GTEST_SKIP();
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes bytes) { server.send(link, bytes); };
  auto client = this->connect(server, server.listen(), "first");
  this->turn_a_little(server);
  system_calls = {};
  for (int count = 1; count <= 100; ++count) {
    client->send("again");
    ASSERT_TRUE(this->until(server, [&] { return server.deliveries == 1 + count; }));
  }
  // The sends of the client are counted too.
  EXPECT_EQ(system_calls.receive, 100u);
  EXPECT_EQ(system_calls.send, 200u);
  EXPECT_EQ(system_calls.control, 0u);
}

KATANA_TEST(a_short_wait_is_not_rounded_up_to_a_millisecond) {
  epoll_event none{};
  if (wait_for_events(-1, &none, 1, {}) < 0 && errno == ENOSYS) GTEST_SKIP() << "an old kernel";
  typename TestFixture::TestServer server;
  this->turn_a_little(server);
  // A busy machine delays some of these turns, but not each.
  Duration shortest = seconds(1);
  for (int count = 0; count < 2'000 && shortest >= microseconds(900); ++count) {
    const Instant start = read_monotonic();
    server.engine.turn(microseconds(200));
    shortest = std::min(shortest, server.engine.now() - start);
  }
  EXPECT_GE(shortest, microseconds(200));
  EXPECT_LT(shortest, microseconds(900));
}

KATANA_TEST(several_parts_are_sent_in_order_by_one_system_call) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  system_calls = {};
  server.send_parts(server.links[0], {"one ", "two ", "three"});
  if (system_calls_are_counted) {
    EXPECT_EQ(system_calls.send, 1u);
  }
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->received.size() == 13;
  }));
  EXPECT_EQ(client->received, "one two three");
}

KATANA_TEST(a_recv_that_fills_less_than_the_buffer_is_the_last) {
  if (!system_calls_are_counted) GTEST_SKIP();
  typename TestFixture::TestServer server({.receive_bytes_max = 1024});
  auto client = this->connect(server, server.listen(), "x");
  this->turn_a_little(server);
  client->send(std::string(1500, 'y'));
  system_calls = {};
  ASSERT_TRUE(this->until(server, [&] { return server.received.size() == 1501; }));
  this->turn_a_little(server);
  EXPECT_EQ(system_calls.receive, 2u);
}

KATANA_TEST(a_send_that_is_pending_twice_costs_one_change_of_interest_when_edge_triggered) {
  if (!system_calls_are_counted) GTEST_SKIP();
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  Producer<typename TestFixture::TestServer> producer{server, server.links[0],
                                                      std::string(20'000'000, 'x')};
  server.at_sent = [&](Link, std::size_t) { producer.go_on(); };
  system_calls = {};
  producer.go_on();
  ASSERT_TRUE(this->until(server, [&] {
    client->receive(300'000);
    return client->received.size() == producer.text.size();
  }));
  constexpr bool is_edge = std::is_same_v<TypeParam, Edge>;
  EXPECT_EQ(system_calls.control, is_edge ? 1u : 2 * static_cast<unsigned>(producer.waits));
}

KATANA_TEST(a_link_paused_and_resumed_before_anything_came_costs_no_system_call) {
  if (!system_calls_are_counted) GTEST_SKIP();
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  this->turn_a_little(server);
  system_calls = {};
  for (int count = 0; count < 10; ++count) {
    server.engine.pause_receive(server.links[0]);
    server.engine.resume_receive(server.links[0]);
  }
  EXPECT_EQ(system_calls.control, 0u);
}

// ---- savings of each decision ----

class EpollUndone : public EngineTest<Undone> {
 protected:
  ~EpollUndone() override { Undone::rules = Undone::all; }

  // Counts the system calls of a connection with one request that the server then closes.
  static SystemCalls calls_of_a_connection(const Undecided& rules) {
    Undone::rules = rules;
    TestServer server;
    server.at_bytes = [&](Link link, Bytes) {
      server.send(link, "answer");
      server.engine.close(link);
    };
    Client client(server.listen());
    client.send("question");
    system_calls = {};
    EXPECT_TRUE(until(server, [&] { return server.deliveries == 1; }));
    server.engine.turn(Duration{});
    const SystemCalls counted = system_calls;
    EXPECT_TRUE(until(server, [&] {
      client.receive();
      return client.saw_end;
    }));
    EXPECT_EQ(client.received, "answer");
    return counted;
  }
};

TEST_F(EpollUndone, nothing_undone_costs_what_the_engine_decided) {
  if (!system_calls_are_counted) GTEST_SKIP();
  const SystemCalls calls = calls_of_a_connection({});
  EXPECT_EQ(calls.receive, 1u);
  EXPECT_EQ(calls.control, 0u);
  EXPECT_EQ(calls.option, 0u);
}

TEST_F(EpollUndone, each_decision_about_a_connection_saves_its_system_call) {
  if (!system_calls_are_counted) GTEST_SKIP();
  EXPECT_EQ(calls_of_a_connection({.first_read = false}).control, 1u);
  EXPECT_EQ(calls_of_a_connection({.first_read = false, .delete_before_close = true}).control, 2u);
  EXPECT_EQ(calls_of_a_connection({.inherited_options = false}).option, 1u);
}

TEST_F(EpollUndone, reading_again_costs_a_recv_for_every_delivery) {
  if (!system_calls_are_counted) GTEST_SKIP();
  Undone::rules = {.read_again = true};
  TestServer server;
  auto client = connect(server, server.listen(), "first");
  turn_a_little(server);
  system_calls = {};
  for (int count = 1; count <= 100; ++count) {
    client->send("again");
    ASSERT_TRUE(until(server, [&] { return server.deliveries == 1 + count; }));
  }
  EXPECT_EQ(system_calls.receive, 200u);
}

TEST_F(EpollUndone, without_deferred_accept_a_silent_peer_is_accepted) {
  Undone::rules = {.deferred_accept = false};
  TestServer server;
  Client client(server.listen());
  EXPECT_TRUE(until(server, [&] { return server.links.size() == 1; }));
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
