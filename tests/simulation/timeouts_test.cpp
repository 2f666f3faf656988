#include <gtest/gtest.h>

#include <string>

#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// ---- the head --------------------------------------------------------------------------------

TEST(HeadTimeout, a_head_that_does_not_end_is_answered_408_at_its_deadline_and_not_before) {
  World world;
  ScriptedClient client(world);
  client.expect_reply();
  const Instant begin = world.now();
  client.send_bytes("GET / HTTP/1.1\r\nHost:");
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 408u);
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_TRUE(happened_at(client.received_at(), begin + seconds(10)));
  EXPECT_EQ(world.http_counters().refused, 1u);
  expect_rest(world);
}

TEST(HeadTimeout, one_octet_now_and_then_does_not_move_it) {
  World world;
  ScriptedClient client(world);
  client.expect_reply();
  const Instant begin = world.now();
  for (const char each : std::string("GET / HTTP/1.1\r\n")) {
    if (client.peer().over()) break;
    client.send_bytes({&each, 1});
    world.run_for(seconds(1));
  }
  EXPECT_EQ(client.status(), 408u);
  EXPECT_TRUE(happened_at(client.received_at(), begin + seconds(10)));
  expect_rest(world);
}

TEST(HeadTimeout, a_head_that_ends_before_its_deadline_is_answered) {
  World world;
  ScriptedClient client(world);
  const Planned request = get("/ready/5", trial_text(5));
  client.expect_reply();
  client.send_bytes(request.head.substr(0, 20));
  world.run_for(milliseconds(9'990));
  client.send_bytes(request.head.substr(20));
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.status(), 200u);
  EXPECT_EQ(client.content(), trial_text(5));
  client.peer().close();
  expect_rest(world);
}

// ---- idle ------------------------------------------------------------------------------------

TEST(IdleTimeout, a_connection_that_asks_for_nothing_more_is_closed_silently) {
  World world;
  ScriptedClient client(world);
  client.send(get("/ready/1", ""));
  EXPECT_TRUE(client.wait_for(1));
  const Instant replied = client.received_at();
  const std::uint64_t octets = client.octets();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_TRUE(happened_at(client.over_at(), replied + seconds(75)));
  EXPECT_EQ(client.octets(), octets);
  expect_rest(world);
}

TEST(IdleTimeout, a_connection_that_never_asks_is_closed_silently_after_the_time_of_a_head) {
  World world;
  ScriptedClient client(world);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_EQ(client.octets(), 0u);
  EXPECT_EQ(world.http_counters().refused, 0u);
  expect_rest(world);
}

TEST(IdleTimeout, it_begins_with_the_last_reply) {
  World world;
  ScriptedClient client(world);
  for (std::size_t number = 1; number <= 5; ++number) {
    client.send(get("/ready/1", ""));
    world.run_for(seconds(70));
    EXPECT_EQ(client.replies().size(), number);
  }
  EXPECT_FALSE(client.peer().over());
  client.peer().close();
  expect_rest(world);
}

// ---- content ---------------------------------------------------------------------------------

TEST(ContentTimeout, content_that_stops_is_answered_408) {
  for (const char* const target : {"/collect", "/collect/5", "/read/0", "/early-stream"}) {
    World world;
    ScriptedClient client(world);
    const Planned request = post(target, content_of(2'000), "");
    const bool is_early = std::string(target) == "/early-stream";
    client.expect_reply();
    const Instant begin = world.now();
    client.send_bytes(request.head + request.content.substr(0, 1'000));
    EXPECT_TRUE(client.wait_for_end());
    EXPECT_EQ(client.status(), is_early ? 200u : 408u) << target;
    EXPECT_TRUE(happened_at(client.over_at(), begin + seconds(30))) << target;
    EXPECT_EQ(world.http_counters().handler_timeouts, 0u) << target;
    expect_rest(world);
  }
}

// Sends content at this rate, until the server ends the connection or all is sent.
Duration upload(World& world, ScriptedClient& client, std::size_t octets,
                std::size_t octets_per_s) {
  const Planned request = post("/collect", std::string(octets, 'c'), "");
  client.expect_reply();
  client.send_bytes(request.head);
  const Instant begin = world.now();
  for (std::size_t at = 0; at < octets && !client.peer().over(); at += octets_per_s) {
    client.send_bytes(request.content.substr(at, octets_per_s));
    world.run_for(seconds(1));
  }
  return world.now() - begin;
}

TEST(ContentTimeout, content_at_more_than_the_least_rate_may_take_as_long_as_it_takes) {
  World world;
  ScriptedClient client(world);
  EXPECT_GE(upload(world, client, 300 * 1'100, 1'100), seconds(300));
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.status(), 200u);
  client.peer().close();
  expect_rest(world);
}

TEST(ContentTimeout, content_at_half_the_least_rate_buys_half_of_the_time_it_takes) {
  World world;
  ScriptedClient client(world);
  // 30 s to begin with, and half a second for each: 60 s.
  const Duration lasted = upload(world, client, 200 * 512, 512);
  EXPECT_EQ(client.status(), 408u);
  EXPECT_GE(lasted, seconds(59));
  EXPECT_LE(lasted, seconds(62));
  expect_rest(world);
}

// ---- handlers --------------------------------------------------------------------------------

TEST(HandlerTimeout, a_handler_that_does_not_answer_is_cancelled_and_503_is_sent) {
  World world;
  ScriptedClient client(world);
  const Instant begin = world.now();
  client.send(get("/never", 503));
  world.run_for(seconds(29));
  EXPECT_EQ(world.trial().frames(), 1);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 503u);
  EXPECT_TRUE(client.replies().front().closes);
  EXPECT_TRUE(happened_at(client.received_at(), begin + seconds(30)));
  EXPECT_EQ(world.trial().frames(), 0);
  EXPECT_EQ(world.http_counters().handler_timeouts, 1u);
  expect_rest(world);
}

TEST(HandlerTimeout, a_reply_that_is_begun_and_never_ends_breaks_off) {
  World world;
  ScriptedClient client(world);
  client.send(get("/never-begun", 200));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_reset());
  EXPECT_EQ(client.reader().partial().content, "begun");
  EXPECT_EQ(world.http_counters().handler_timeouts, 1u);
  expect_rest(world);
}

TEST(HandlerTimeout, a_handler_that_stops_reading_is_cancelled_and_the_client_gets_503_whole) {
  WorldOptions options;
  options.faults.close_resets = 1024;
  options.faults.reset_loses = 1024;
  World world(options);
  ScriptedClient client(world);
  client.send(post("/read-never", content_of(1'000'000), ""));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 503u);
  EXPECT_TRUE(client.peer().saw_end());
  expect_rest(world);
}

TEST(HandlerTimeout, waiting_for_the_client_is_not_the_handler_s_time) {
  World world;
  ScriptedClient client(world);
  const std::string content = content_of(40 * 1'000);
  const Planned request = post("/read/0", content, "");
  client.expect_reply();
  client.send_bytes(request.head);
  // Slow, but quick enough: each second brings a thousand bytes, and there are more than 30.
  for (std::size_t at = 0; at < content.size(); at += 10'000) {
    world.run_for(seconds(9));
    client.send_bytes(Bytes(content).substr(at, 10'000));
  }
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.content(), trial_digest(content));
  client.peer().close();
  expect_rest(world);
}

TEST(Cancelling, a_client_that_resets_cancels_its_handler) {
  World world;
  ScriptedClient client(world);
  client.send(get("/never", 200));
  world.run_for(seconds(1));
  EXPECT_EQ(world.trial().frames(), 1);
  client.peer().reset();
  world.run_for(milliseconds(2));
  EXPECT_EQ(world.trial().frames(), 0);
  EXPECT_EQ(world.http_counters().handlers_cancelled, 1u);
  expect_rest(world);
}

TEST(Cancelling, a_reset_is_noticed_behind_a_full_carry_too) {
  World world;
  ScriptedClient client(world);
  client.send(get("/never", 200));
  client.send_bytes(std::string(200'000, 'x'));
  world.run_for(seconds(1));
  EXPECT_GT(client.peer().unsent(), 0u);
  client.peer().reset();
  world.run_for(milliseconds(2));
  EXPECT_EQ(world.trial().frames(), 0);
  expect_rest(world);
}

// ---- a client that ends its side -------------------------------------------------------------

TEST(HalfClose, a_reply_that_is_ready_within_the_grace_is_delivered) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/900", ""));
  client.peer().finish();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.content(), "slept 900 ms");
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_EQ(world.http_counters().handlers_cancelled, 0u);
  expect_rest(world);
}

TEST(HalfClose, a_handler_that_takes_longer_is_cancelled) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/1100", ""));
  world.run_for(milliseconds(50));
  const Instant begin = world.now();
  client.peer().finish();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_reset());
  EXPECT_TRUE(happened_at(client.over_at(), begin + seconds(1)));
  EXPECT_EQ(world.trial().frames(), 0);
  EXPECT_EQ(world.http_counters().handlers_cancelled, 1u);
  expect_rest(world);
}

TEST(HalfClose, every_request_behind_it_has_the_grace_and_no_more) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/600", ""));
  client.send(get("/sleep/700", ""));
  client.send(get("/never", ""));
  const Instant begin = world.now();
  client.peer().finish();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.replies().size(), 2u);
  EXPECT_EQ(client.content(), "slept 700 ms");
  EXPECT_TRUE(happened_at(client.over_at(), begin + milliseconds(2'300)));
  expect_rest(world);
}

// Reads what has come, and then nothing for a while, again and again.
void read_now_and_then(World& world, ScriptedClient& client, Duration pause) {
  client.peer().stop_reading();
  while (!client.peer().over() && client.replies().empty()) {
    world.run_for(pause);
    client.peer().start_reading();
    client.peer().stop_reading();
  }
}

TEST(HalfClose, a_download_goes_on_as_slowly_as_the_client_takes_it) {
  World world;
  ScriptedClient client(world, Site::hello);
  client.send(get("/bytes/1000000", ""));
  client.peer().finish();
  read_now_and_then(world, client, seconds(5));
  ASSERT_EQ(client.replies().size(), 1u);
  EXPECT_EQ(client.content().size(), 1'000'000u);
  client.peer().start_reading();
  expect_rest(world);
}

TEST(HalfClose, inside_of_content_it_is_answered_400) {
  World world;
  ScriptedClient client(world);
  const Planned request = post("/collect", content_of(100), "");
  client.expect_reply();
  client.send_bytes(request.head + "some");
  client.peer().finish();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 400u);
  expect_rest(world);
}

TEST(HalfClose, inside_of_content_whose_reply_has_begun_breaks_the_reply_off) {
  World world;
  ScriptedClient client(world);
  const Planned request = post("/begun", content_of(100), "");
  client.expect_reply();
  client.send_bytes(request.head + "some");
  world.run_for(seconds(1));
  EXPECT_EQ(client.reader().partial().content, "begun: ");
  client.peer().finish();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_reset());
  EXPECT_EQ(world.http_counters().replies_aborted, 1u);
  expect_rest(world);
}

// ---- a client that does not read -------------------------------------------------------------

TEST(SendTimeout, a_client_that_takes_nothing_is_cut_off) {
  World world;
  ScriptedClient client(world, Site::hello);
  client.peer().stop_reading();
  client.send(get("/bytes/1000000", ""));
  const Instant begin = world.now();
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_TRUE(client.peer().saw_reset());
  EXPECT_EQ(world.reactor().counters().send_timeouts, 1u);
  EXPECT_GE(client.over_at(), begin + seconds(30));
  EXPECT_LE(client.over_at(), begin + seconds(31));
  expect_rest(world);
}

TEST(SendTimeout, one_octet_every_ten_seconds_does_not_put_it_off) {
  World world;
  ScriptedClient client(world, Site::hello, 1);
  client.send(get("/bytes/1000000", ""));
  const Instant begin = world.now();
  read_now_and_then(world, client, seconds(10));
  EXPECT_TRUE(client.peer().saw_reset());
  EXPECT_EQ(world.reactor().counters().send_timeouts, 1u);
  EXPECT_LE(client.over_at(), begin + seconds(31));
  expect_rest(world);
}

TEST(SendTimeout, a_client_that_takes_more_than_the_least_rate_gets_everything) {
  World world;
  ScriptedClient client(world, Site::hello, 16 * 1024);
  client.send(get("/bytes/300000", ""));
  const Instant begin = world.now();
  read_now_and_then(world, client, seconds(14));
  ASSERT_EQ(client.replies().size(), 1u);
  EXPECT_EQ(client.content().size(), 300'000u);
  EXPECT_GT(world.now(), begin + seconds(100));
  client.peer().start_reading();
  client.peer().close();
  expect_rest(world);
}

// A client that takes its replies slowly is not idle, and waiting for it costs next to nothing.
TEST(SendTimeout, requests_behind_replies_that_are_taken_slowly_are_answered) {
  World world;
  ScriptedClient client(world, Site::trial, 4 * 1024);
  for (int number = 0; number < 6; ++number) client.send(get("/text/60000", ""));
  const std::uint64_t operations = world.reactor().timers().operations();
  const Instant begin = world.now();
  client.peer().stop_reading();
  while (!client.peer().over() && client.replies().size() < 6) {
    world.run_for(milliseconds(3'800));
    client.peer().start_reading();
    client.peer().stop_reading();
  }
  EXPECT_EQ(client.replies().size(), 6u);
  EXPECT_GT(world.now(), begin + seconds(200));
  EXPECT_LT(world.reactor().timers().operations() - operations, 200u);
  client.peer().start_reading();
  client.peer().close();
  expect_rest(world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
