#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// Closing with unread input resets the connection, and the reset destroys bytes on their way.
WorldOptions where_careless_closing_loses() {
  WorldOptions options;
  options.faults.close_resets = 1024;
  options.faults.reset_loses = 1024;
  return options;
}

// ---- closing with care -----------------------------------------------------------------------

TEST(LingeringClose, a_client_that_sends_on_after_a_refusal_receives_all_of_it_and_the_end) {
  World world(where_careless_closing_loses());
  ScriptedClient client(world);
  client.send(post("/collect-small", std::string(10'000'000, 'x'), ""));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 413u);
  EXPECT_TRUE(client.replies().front().closes);
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
  EXPECT_EQ(client.peer().unsent(), 0u);
}

TEST(LingeringClose, what_follows_a_malformed_request_does_not_destroy_its_reply) {
  World world(where_careless_closing_loses());
  ScriptedClient client(world);
  client.send(refused("nonsense", "nonsense\r\n" + std::string(2'000'000, 'x'), 400));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 400u);
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
}

TEST(LingeringClose, what_is_pipelined_behind_the_last_reply_does_not_destroy_it) {
  World world(where_careless_closing_loses());
  ScriptedClient client(world);
  client.send(get("/sleep/100", ""));
  client.send(get("/close", "the last"));
  for (int number = 0; number < 500; ++number) {
    client.send_bytes(head_of("GET", "/text/9"));
  }
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.replies().size(), 2u);
  EXPECT_EQ(client.content(), "the last");
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
}

TEST(LingeringClose, it_waits_no_longer_than_its_time) {
  World world;
  ScriptedClient client(world);
  client.stay_open();
  client.send(refused("nonsense", "nonsense\r\n", 400));
  EXPECT_TRUE(client.wait_for_end());
  const Instant ended = world.now();
  EXPECT_EQ(client.peer().link_state(), engine::SimLink::open);
  world.run_for(milliseconds(1'990));
  EXPECT_EQ(client.peer().link_state(), engine::SimLink::open);
  world.run_while_not([&] { return client.peer().link_state() == engine::SimLink::closed; });
  EXPECT_LE(world.now(), ended + milliseconds(2'003));
  expect_rest(world);
}

TEST(LingeringClose, it_reads_no_more_than_its_limit) {
  WorldOptions options;
  options.reactor.linger_bytes_max = 100'000;
  World world(options);
  ScriptedClient client(world);
  client.stay_open();
  client.send(refused("nonsense", "nonsense\r\n", 400));
  EXPECT_TRUE(client.wait_for_end());
  client.send_bytes(std::string(400'000, 'x'));
  world.run_for(milliseconds(20));
  EXPECT_EQ(client.peer().link_state(), engine::SimLink::closed);
  expect_rest(world);
}

// ---- the last request of a connection --------------------------------------------------------

TEST(RequestLimit, the_last_request_is_answered_and_says_that_it_was_the_last) {
  WorldOptions options;
  options.http.requests_per_connection_max = 3;
  World world(options);
  ScriptedClient client(world);
  for (int number = 0; number < 5; ++number) client.send(get("/ready/1", ""));
  EXPECT_TRUE(client.wait_for_end());
  ASSERT_EQ(client.replies().size(), 3u);
  EXPECT_FALSE(client.replies()[1].closes);
  EXPECT_TRUE(client.replies()[2].closes);
  EXPECT_EQ(world.trial().frames_made(), 3u);
  expect_rest(world);
}

// ---- draining --------------------------------------------------------------------------------

TEST(Drain, a_request_in_flight_is_answered_and_its_connection_closed) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/500", ""));
  world.run_for(milliseconds(100));
  world.reactor().request_drain(seconds(10));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.content(), "slept 500 ms");
  EXPECT_TRUE(client.replies().front().closes);
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.reactor().counters().cut_off, 0u);
}

TEST(Drain, what_is_pipelined_behind_it_is_not_begun) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/500", ""));
  client.send(get("/sleep/500", ""));
  world.run_for(milliseconds(100));
  world.reactor().request_drain(seconds(10));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.replies().size(), 1u);
  EXPECT_EQ(world.trial().frames_made(), 1u);
  expect_rest(world);
}

// The client asks again before it has seen that the reply is the last.
TEST(Drain, a_request_that_crosses_the_last_reply_does_not_break_it) {
  World world;
  ScriptedClient client(world);
  client.stay_open();
  client.send(get("/sleep/500", ""));
  world.run_for(milliseconds(100));
  world.reactor().request_drain(seconds(10));
  EXPECT_TRUE(client.wait_for(1));
  client.send_bytes(get("/ready/1", "").head);
  world.run_for(milliseconds(100));
  EXPECT_FALSE(client.peer().saw_reset());
  EXPECT_EQ(world.reactor().links_open(), 1u);
  client.peer().close();
  expect_rest(world);
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.trial().frames_made(), 1u);
}

TEST(Drain, an_idle_connection_may_still_ask_for_a_moment_and_is_closed_silently_then) {
  World world;
  ScriptedClient client(world);
  ScriptedClient late(world);
  for (ScriptedClient* const each : {&client, &late}) {
    each->send(get("/ready/1", ""));
    EXPECT_TRUE(each->wait_for(1));
  }
  const std::uint64_t octets = client.octets();
  const Instant begin = world.now();
  world.reactor().request_drain(seconds(10));
  world.run_for(milliseconds(200));
  EXPECT_FALSE(client.peer().over());
  late.send(get("/sleep/300", ""));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(happened_at(client.over_at(), begin + milliseconds(250)));
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_EQ(client.octets(), octets);
  EXPECT_TRUE(late.wait_for_end());
  EXPECT_EQ(late.content(), "slept 300 ms");
  EXPECT_TRUE(late.replies().back().closes);
  expect_rest(world);
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.reactor().counters().cut_off, 0u);
}

TEST(Drain, a_head_that_has_begun_may_end) {
  World world;
  ScriptedClient client(world);
  const Planned request = get("/ready/2", "");
  client.expect_reply();
  client.send_bytes(request.head.substr(0, 10));
  world.run_for(milliseconds(10));
  world.reactor().request_drain(seconds(10));
  world.run_for(seconds(2));
  client.send_bytes(request.head.substr(10));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.content(), trial_text(2));
  EXPECT_TRUE(client.replies().front().closes);
  expect_rest(world);
}

TEST(Drain, an_upload_and_a_download_are_finished) {
  WorldOptions options;
  options.http.limits.content_timeout = seconds(120);
  World world(options);
  ScriptedClient up(world);
  ScriptedClient down(world, Site::hello, 8 * 1024);
  const std::string content = content_of(50'000);
  const Planned request = post("/read/1", content, "");
  up.expect_reply();
  up.send_bytes(request.head + request.content.substr(0, 20'000));
  down.peer().stop_reading();
  down.send(get("/bytes/200000", ""));
  world.run_for(seconds(1));
  world.reactor().request_drain(seconds(10));
  world.run_for(seconds(1));
  up.send_bytes(request.content.substr(20'000));
  down.peer().start_reading();
  EXPECT_TRUE(up.wait_for_end());
  EXPECT_EQ(up.content(), trial_digest(content));
  EXPECT_TRUE(up.replies().front().closes);
  EXPECT_TRUE(down.wait_for_end());
  EXPECT_EQ(down.content().size(), 200'000u);
  expect_rest(world);
  EXPECT_EQ(world.reactor().counters().cut_off, 0u);
}

TEST(Drain, a_connection_whose_content_is_only_read_past_does_not_hold_it_up) {
  World world;
  ScriptedClient client(world);
  const Planned request = post("/early", content_of(30'000), "");
  client.expect_reply();
  client.send_bytes(request.head + request.content.substr(0, 10'000));
  EXPECT_TRUE(client.wait_for(1));
  world.reactor().request_drain(seconds(10));
  world.run_for(milliseconds(10));
  client.send_bytes(request.content.substr(10'000));
  world.run_for(seconds(5));
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.reactor().counters().cut_off, 0u);
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
}

TEST(Drain, its_deadline_cuts_off_what_is_left_and_says_so) {
  World world;
  ScriptedClient client(world);
  ScriptedClient other(world);
  client.send(get("/never", 200));
  world.run_for(milliseconds(100));
  const Instant begin = world.now();
  world.reactor().request_drain(seconds(3));
  // Ends the turn at the deadline, as Reactor::run() does.
  world.run_for(milliseconds(2'999));
  EXPECT_FALSE(world.reactor().stopped());
  EXPECT_EQ(world.trial().frames(), 1);
  world.run_until(begin + milliseconds(3'001));
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.reactor().counters().cut_off, 1u);
  EXPECT_EQ(world.trial().frames(), 0);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_reset());
  expect_rest(world);
}

TEST(Drain, connections_that_were_complete_before_are_served_and_no_others) {
  World world;
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 5; ++number)
    clients.push_back(std::make_unique<ScriptedClient>(world));
  // No client has sent anything, so that the engine has not delivered them yet.
  EXPECT_EQ(world.reactor().counters().accepted, 0u);
  world.reactor().request_drain(seconds(10));
  for (const auto& each : clients) each->send(get("/sleep/20", ""));
  for (const auto& each : clients) {
    EXPECT_TRUE(each->wait_for_end());
    EXPECT_EQ(each->content(), "slept 20 ms");
    EXPECT_TRUE(each->replies().front().closes);
  }
  expect_rest(world);
  EXPECT_TRUE(world.reactor().stopped());
  SimPeer late(world.network());
  late.connect(world.port(Site::trial));
  world.run_to_rest();
  EXPECT_TRUE(late.refused());
}

TEST(Drain, a_second_request_to_stop_ends_everything_at_once) {
  World world;
  ScriptedClient client(world);
  client.send(get("/never", 200));
  world.run_for(milliseconds(10));
  world.reactor().request_drain(seconds(3'000));
  world.run_for(seconds(1));
  EXPECT_FALSE(world.reactor().stopped());
  world.reactor().request_stop();
  world.turn(Duration{});
  EXPECT_TRUE(world.reactor().stopped());
  EXPECT_EQ(world.reactor().counters().cut_off, 1u);
  expect_rest(world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
