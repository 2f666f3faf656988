// The clients that may connect to a listener, their limits, and the end of old connections.
#include <memory>
#include <string>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

class ReactorClientsTest : public ReactorTest {
 protected:
  ~ReactorClientsTest() override { reactor_.reset(); }  // before what it borrows

  void guard(const ClientLimitOptions& options) {
    limits_ = std::make_unique<ClientLimits>(options, 1);
    reactor().guard(0, {.limits = limits_.get()});
  }
  // Whether a link from this address is accepted. The n-th is link n.
  bool admitted(Bytes address) {
    const auto index = static_cast<std::uint32_t>(world_.links.size());
    world_.links.emplace_back().open = true;
    bool result = false;
    world_.events.push_back([&, index] {
      const auto peer = engine::PeerEndpoint::of(*IpAddress::parse(address), 1000);
      result = reactor_->on_accepted({index, 1}, 0, peer);
    });
    turn();
    return result;
  }

  std::unique_ptr<ClientLimits> limits_;
};

TEST_F(ReactorClientsTest, others_than_the_peers_of_a_listener_are_closed_and_counted) {
  const Network proxies[] = {*Network::parse("10.0.0.0/8")};
  const NetworkSet peers(proxies);
  reactor().guard(0, {.peers = &peers});
  EXPECT_TRUE(admitted("10.1.2.3"));
  EXPECT_FALSE(admitted("192.0.2.1"));
  EXPECT_EQ(counters().peers_untrusted, 1u);
  EXPECT_EQ(counters().accepted, 1u);
}

TEST_F(ReactorClientsTest, a_client_has_so_many_connections_until_one_ends) {
  guard({.connections_max = 2});
  EXPECT_TRUE(admitted("192.0.2.1"));
  EXPECT_TRUE(admitted("192.0.2.1"));
  EXPECT_FALSE(admitted("192.0.2.1"));
  EXPECT_TRUE(admitted("192.0.2.2"));
  EXPECT_EQ(counters().client_refusals_by[static_cast<std::size_t>(ClientRefusal::connections)],
            1u);
  broken(0);
  turn();
  EXPECT_TRUE(admitted("192.0.2.1"));
  EXPECT_EQ(limits_->clients(world_.now), 2u);
  reactor_.reset();
  EXPECT_EQ(limits_->clients(world_.now), 0u) << "all was given back";
}

TEST_F(ReactorClientsTest, who_sends_too_fast_is_not_read_until_its_time_has_come) {
  guard({.received_bytes_per_s = 1000, .received_bytes_burst = 100});
  ASSERT_TRUE(admitted("192.0.2.1"));
  bytes(0, std::string(100, 'a'));
  turn();
  EXPECT_FALSE(link_state(0).paused);
  bytes(0, std::string(100, 'b'));
  turn();
  EXPECT_TRUE(link_state(0).paused);
  EXPECT_EQ(protocol_.sessions[0]->consumed.size(), 200u) << "what has come is served";
  EXPECT_EQ(counters().client_receive_pauses, 1u);
  turn(milliseconds(99));
  EXPECT_TRUE(link_state(0).paused);
  turn(milliseconds(51));
  EXPECT_FALSE(link_state(0).paused) << "not exactly then, so that many do not come back at once";
}

TEST_F(ReactorClientsTest, one_receive_brings_no_more_than_a_share_of_what_a_client_may_send) {
  guard({.received_bytes_per_s = 8000, .received_bytes_burst = 4000});
  ASSERT_TRUE(admitted("192.0.2.1"));
  EXPECT_EQ(link_state(0).receive_max, 4000u) << "its burst";
  bytes(0, std::string(4001, 'a'));
  turn();
  EXPECT_EQ(link_state(0).receive_max, 1000u) << "an eighth of a second";
  turn(seconds(1));
  bytes(0, "a");
  turn();
  EXPECT_EQ(link_state(0).receive_max, 4000u) << "it keeps its rate again";
}

TEST_F(ReactorClientsTest, requests_are_counted_over_the_connections_of_a_client) {
  guard({.requests_max = 1});
  ASSERT_TRUE(admitted("192.0.2.1"));
  ASSERT_TRUE(admitted("192.0.2.1"));
  auto place = protocol_.sessions[0]->connection.begin_request();
  EXPECT_TRUE(place);
  EXPECT_FALSE(protocol_.sessions[1]->connection.begin_request());
  EXPECT_EQ(counters().client_requests_refused, 1u);
  place.reset();
  EXPECT_TRUE(protocol_.sessions[1]->connection.begin_request());
}

TEST_F(ReactorClientsTest, a_request_counts_until_its_work_ends_whatever_became_of_its_connection) {
  guard({.requests_max = 1});
  ASSERT_TRUE(admitted("192.0.2.1"));
  auto place = protocol_.sessions[0]->connection.begin_request();
  broken(0);
  turn();
  ASSERT_TRUE(admitted("192.0.2.1"));
  net::Connection& next = protocol_.sessions[1]->connection;
  EXPECT_FALSE(next.begin_request());
  place.reset();
  auto kept = next.begin_request();
  ASSERT_TRUE(kept);
  next.keep_place(*std::move(kept));
  EXPECT_FALSE(next.begin_request()) << "it is the connection's, until it is taken";
  (void)next.take_place();
  EXPECT_TRUE(next.begin_request());
}

TEST_F(ReactorClientsTest, without_limits_requests_always_begin) {
  TestSession& session = connect();
  const auto place = session.connection.begin_request();
  ASSERT_TRUE(place);
  EXPECT_FALSE(*place) << "nothing is counted";
}

class AgeTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.connection_age_max = seconds(100);
    return options;
  }
  AgeTest() : ReactorTest(options()) {}
};

TEST_F(AgeTest, an_old_connection_is_told_to_end_once_and_goes_on_until_it_does) {
  TestSession& session = connect();
  turn(seconds(89));
  EXPECT_EQ(session.drains, 0);
  turn(seconds(12));
  EXPECT_EQ(session.drains, 1);
  EXPECT_EQ(counters().connections_aged, 1u);
  bytes(0, "a request that was on its way");
  turn(seconds(100));
  EXPECT_EQ(session.drains, 1);
  EXPECT_FALSE(session.consumed.empty());
  EXPECT_TRUE(link_state(0).open);
}

TEST_F(AgeTest, connections_that_came_together_do_not_all_end_together) {
  for (int count = 0; count < 50; ++count) accept();
  const auto told = [&] {
    int count = 0;
    for (const TestSession* const session : protocol_.sessions) count += session->drains;
    return count;
  };
  turn(seconds(95));
  EXPECT_GT(told(), 5);
  EXPECT_LT(told(), 45);
  turn(seconds(6));
  EXPECT_EQ(told(), 50);
}

TEST_F(AgeTest, a_connection_that_ends_by_itself_is_not_counted) {
  TestSession& session = connect();
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  turn(seconds(101));
  EXPECT_EQ(counters().connections_aged, 0u);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
