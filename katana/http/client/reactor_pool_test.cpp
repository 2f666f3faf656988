// Connections: when they are opened, kept and closed, and the retries of requests.
#include "katana/http/client/reactor_pool.hpp"

#include <cerrno>

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::HasSubstr;

const std::string nothing = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

class ReactorPoolTest : public ClientTest {};

// ---- retries ----

TEST_F(ReactorPoolTest, a_kept_connection_that_is_lost_before_a_reply_is_tried_again_on_a_new_one) {
  for (const bool reset : {false, true}) {
    warm_up();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    Reply& reply = get();
    EXPECT_EQ(links(), index + 1u);
    const std::string asked = sent(index);
    reset ? lose(index, ECONNRESET) : close_by_server(index);
    turn();
    ASSERT_EQ(links(), index + 2u);
    answer(index + 1);
    EXPECT_EQ(sent(index + 1), asked);
    say(index + 1, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(error_of(reply), "status 204");
  }
  EXPECT_EQ(http().counters(reactor()).retries, 2u);
  EXPECT_EQ(http().counters(reactor()).failures, 0u);
}

TEST_F(ReactorPoolTest, a_request_that_may_have_been_processed_is_not_retried) {
  warm_up();
  Reply& post = fetch(Request("POST", "http://server.test/"));
  close_by_server(0);
  EXPECT_THAT(error_of(post), HasSubstr("closed the connection before it replied"));

  warm_up();
  Reply& begun = get();
  say(1, "HTTP/1.1 2");
  close_by_server(1);
  EXPECT_THAT(error_of(begun), HasSubstr("closed the connection before the reply was complete"));

  Reply& fresh = get();  // the connection was never used before
  answer(2);
  lose(2, ECONNRESET);
  EXPECT_THAT(error_of(fresh), HasSubstr("failed: Connection reset by peer"));
  EXPECT_EQ(http().counters(reactor()).retries, 0u);
}

TEST_F(ReactorPoolTest, a_post_marked_repeatable_is_retried) {
  warm_up();
  Reply& reply = fetch(Request("POST", "http://server.test/").repeatable());
  close_by_server(0);
  turn();
  answer(1);
  say(1, nothing);
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(ReactorPoolTest, one_dead_connection_ends_the_other_idle_ones) {
  get();
  get();
  for (const std::uint32_t index : {0u, 1u}) answer(index);
  for (const std::uint32_t index : {0u, 1u}) say(index, nothing);
  EXPECT_EQ(http().counters(reactor()).connections, 2u);
  Reply& reply = get();
  close_by_server(1);  // the one used last
  turn();
  EXPECT_FALSE(open(0));
  ASSERT_EQ(links(), 3u);
  answer(2);
  say(2, nothing);
  EXPECT_EQ(error_of(reply), "status 200");
}

// Each attempt is on a connection that has served another request and is then lost.
TEST_F(ReactorPoolTest, a_request_is_retried_so_many_times_and_later_each_time) {
  auto options = test_options();
  options.connections_max = 1;
  options.retries_max = 2;
  options.backoff_min = options.backoff_max = milliseconds(100);
  use(options);
  warm_up();
  Reply& unlucky = get();
  Reply& other = get();  // waits, and precedes the second attempt
  close_by_server(0);
  answer(1);
  say(1, nothing);
  EXPECT_EQ(error_of(other), "status 200");
  close_by_server(1);
  EXPECT_FALSE(unlucky.done());
  EXPECT_EQ(http().counters(reactor()).retries, 2u);
  EXPECT_EQ(http().counters(reactor()).connections, 0u);  // it waits for the backoff
  Reply& third = get();
  answer(2);
  say(2, nothing);
  EXPECT_EQ(error_of(third), "status 200");
  take_sent(2);
  turn(milliseconds(101));
  turn();
  EXPECT_THAT(take_sent(2), HasSubstr("GET / "));
  close_by_server(2);
  EXPECT_THAT(error_of(unlucky), HasSubstr("closed the connection before it replied"));
  EXPECT_EQ(http().counters(reactor()).retries, 2u);
}

TEST_F(ReactorPoolTest, retry_after_of_a_503_is_honoured_when_asked_and_never_beyond_its_limit) {
  const std::string busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: ";
  Reply& ignored = get();
  answer(0);
  say(0, busy + "1\r\n\r\n");
  EXPECT_EQ(error_of(ignored), "status 503");

  auto options = test_options();
  options.retry_after_max = seconds(5);
  use(options);
  Reply& honoured = get();
  answer(1);
  say(1, busy + "2\r\n\r\n");
  turn(milliseconds(1'500));
  EXPECT_FALSE(honoured.done());
  EXPECT_THAT(take_sent(1), HasSubstr("GET "));
  turn(milliseconds(600));
  turn();
  EXPECT_THAT(take_sent(1), HasSubstr("GET "));
  say(1, busy + "6\r\n\r\n");
  EXPECT_EQ(error_of(honoured), "status 503");

  Reply& unreadable = get();
  turn();
  say(1, busy + "soon\r\n\r\n");
  EXPECT_EQ(error_of(unreadable), "status 503") << "it is no time";
}

// The connection exists until its pool runs, later in the same turn.
TEST_F(ReactorPoolTest, a_connection_that_broke_in_this_turn_gets_no_request) {
  warm_up();
  replies.push_back(http().fetch(Request("http://server.test/")));
  broken(0);
  world_.events.push_back([this] { replies.back().start(); });
  turn();
  turn();
  EXPECT_FALSE(open(0));
  ASSERT_EQ(links(), 2u);
  answer(1);
  say(1, nothing);
  EXPECT_EQ(error_of(replies.back()), "status 200");
}

// ---- connections that cannot be opened ----

TEST_F(ReactorPoolTest, a_refused_connection_says_who_refused) {
  Reply& reply = get();
  lose(0, ECONNREFUSED);
  EXPECT_THAT(
      error_of(reply),
      HasSubstr("connect to http://server.test:80 (address 192.0.2.1): Connection refused"));
  Reply& unreachable = get("http://192.0.2.9:0");
  EXPECT_THAT(error_of(unreachable), HasSubstr("port 0"));
}

TEST_F(ReactorPoolTest, the_next_address_of_a_host_is_tried) {
  Reply& reply = get("http://two.test/");
  lose(0, ECONNREFUSED);
  ASSERT_EQ(links(), 2u);
  EXPECT_FALSE(reply.done());
  answer(1);
  say(1, nothing);
  EXPECT_EQ(error_of(reply), "status 200");

  Reply& none = get("http://two.test:81/");
  lose(2, ECONNREFUSED);
  lose(3, EHOSTUNREACH);
  EXPECT_THAT(error_of(none), HasSubstr("(address 192.0.2.3): No route to host"));
}

TEST_F(ReactorPoolTest, connecting_stops_at_the_connect_timeout) {
  Reply& reply = get();
  turn(milliseconds(4'900));
  EXPECT_FALSE(reply.done());
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(error_of(reply), HasSubstr("deadline exceeded after 5000 ms"));
  EXPECT_FALSE(open(0));
}

TEST_F(ReactorPoolTest, every_waiting_request_fails_when_all_addresses_refuse) {
  auto options = test_options();
  options.connections_max = 1;
  use(options);
  Reply& first = get();
  Reply& second = get();
  EXPECT_EQ(links(), 1u);
  lose(0, ECONNREFUSED);
  EXPECT_THAT(error_of(first), HasSubstr("Connection refused"));
  EXPECT_THAT(error_of(second), HasSubstr("Connection refused"));
}

TEST_F(ReactorPoolTest,
       a_refused_connection_beside_an_open_one_fails_no_request_and_makes_a_pause) {
  warm_up();
  Reply& first = get();
  Reply& second = get();
  ASSERT_EQ(links(), 2u);
  lose(1, ECONNREFUSED);
  EXPECT_FALSE(second.done());
  Reply& third = get();
  turn(milliseconds(900));
  EXPECT_EQ(links(), 2u) << "no further connection in the pause";
  say(0, nothing);
  EXPECT_EQ(error_of(first), "status 200");
  say(0, nothing);
  EXPECT_EQ(error_of(second), "status 200");
  turn(milliseconds(200));
  get();
  EXPECT_EQ(links(), 3u) << "after the pause";
  say(0, nothing);
  EXPECT_EQ(error_of(third), "status 200");
}

TEST_F(ReactorPoolTest, a_name_without_an_address_is_an_error) {
  // No name has a label of 64 octets (RFC 1035 §2.3.4): no query is sent.
  const std::string host = std::string(64, 'a') + ".test";
  Reply& reply = get("http://" + host + "/");
  while (!reply.done()) turn();
  EXPECT_THAT(error_of(reply), HasSubstr("host '" + host + "'"));
}

TEST_F(ReactorPoolTest, a_name_is_resolved_on_another_thread_and_kept) {
  Reply& reply = get("http://localhost/");
  while (links() == 0 && !reply.done()) turn();
  ASSERT_EQ(links(), 1u);
  answer(0);
  say(0, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
  get("http://localhost/");
  EXPECT_EQ(links(), 2u);  // at once
}

// ---- limits ----

TEST_F(ReactorPoolTest, requests_wait_for_a_connection_and_only_so_many) {
  auto options = test_options();
  options.connections_max = 1;
  options.waiting_max = 1;
  use(options);
  Reply& first = get();
  Reply& second = get();
  Reply& third = get();
  EXPECT_EQ(links(), 1u);
  EXPECT_THAT(error_of(third), HasSubstr("1 requests already wait for a connection to "
                                         "http://server.test:80; raise waiting_max"));
  answer(0);
  take_sent(0);
  say(0, nothing);
  EXPECT_EQ(error_of(first), "status 200");
  EXPECT_THAT(take_sent(0), HasSubstr("GET / "));
  say(0, nothing);
  EXPECT_EQ(error_of(second), "status 200");
  EXPECT_EQ(links(), 1u);
}

TEST_F(ReactorPoolTest, a_deadline_while_waiting_says_that_no_connection_was_available) {
  auto options = test_options();
  options.connections_max = 1;
  use(options);
  get();
  answer(0);
  Reply& waits = fetch(Request("http://server.test/").timeout(seconds(1)));
  turn(milliseconds(1'100));
  turn();
  EXPECT_THAT(error_of(waits),
              HasSubstr("deadline exceeded after 1000 ms: no connection became available"));
  EXPECT_TRUE(open(0));
}

TEST_F(ReactorPoolTest, idle_connections_are_few_and_not_for_ever) {
  auto options = test_options();
  options.idle_max = 2;
  use(options);
  for (int count = 0; count < 4; ++count) get();
  for (std::uint32_t index = 0; index < 4; ++index) answer(index);
  for (std::uint32_t index = 0; index < 4; ++index) say(index, nothing);
  EXPECT_EQ(reactor().links_open(), 2u);
  turn(seconds(29));
  EXPECT_EQ(reactor().links_open(), 2u);
  turn(seconds(2));
  turn();
  EXPECT_EQ(reactor().links_open(), 0u);
}

TEST_F(ReactorPoolTest, unused_origins_are_forgotten_for_others) {
  auto options = test_options();
  options.origins_max = 2;
  use(options);
  get("http://192.0.2.1/");
  get("http://192.0.2.2/");
  Reply& third = get("http://192.0.2.3/");
  EXPECT_THAT(error_of(third), HasSubstr("raise origins_max"));
  lose(0, ECONNREFUSED);
  get("http://192.0.2.3/");
  EXPECT_EQ(links(), 3u);
}

TEST_F(ReactorPoolTest, a_drain_ends_idle_connections_and_lets_others_finish) {
  warm_up();
  Reply& busy = get();
  get();
  answer(1);
  say(1, nothing);
  reactor().request_drain(seconds(10));
  turn();
  turn();
  EXPECT_FALSE(open(1));
  EXPECT_TRUE(open(0));
  EXPECT_FALSE(reactor().stopped());
  world_.accepting = false;
  say(0, nothing);
  EXPECT_EQ(error_of(busy), "status 200");
  turn();
  EXPECT_FALSE(open(0));
  EXPECT_TRUE(reactor().stopped());
}

TEST_F(ReactorPoolTest,
       a_connection_that_is_refused_during_a_drain_is_followed_by_the_next_address) {
  Reply& reply = get("http://two.test/");
  reactor().request_drain(seconds(10));
  turn();
  turn();
  lose(0, ECONNREFUSED);
  EXPECT_FALSE(reply.done());
  ASSERT_EQ(links(), 2u);
  lose(1, ECONNREFUSED);
  EXPECT_THAT(error_of(reply), HasSubstr("Connection refused"));
}

TEST_F(ReactorPoolTest, a_reactor_that_ends_takes_connections_and_look_ups_with_it) {
  get();
  answer(0);
  get("http://localhost/");
  replies.clear();
  reactor_.reset();
}

TEST_F(ReactorPoolTest, connections_may_outlive_their_client) {
  warm_up();
  Reply& reply = get();
  use(test_options());  // another client; the first is destroyed
  say(0, nothing);
  EXPECT_EQ(error_of(reply), "status 200");
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
