// HTTP/2 through the whole stack: handlers at the same time, windows, limits, drain, and seeds of
// faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

using http2::Failure;

std::string text_of(std::size_t size, char first = 'a') {
  std::string text(size, ' ');
  for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>(first + at * 7 % 26);
  return text;
}

std::uint64_t count(World& world, Failure failure) {
  return world.http2(Site::trial).counters().failures[static_cast<std::size_t>(failure)];
}

// More of them: KATANA_HTTP2_SEEDS.
std::uint64_t seeds() { return number_from("KATANA_HTTP2_SEEDS", 10); }

// A request, and the expected reply.
struct Asked {
  std::uint32_t id;
  std::string status, content;
};

std::vector<Asked> ask_for_everything(Http2Client& client, std::mt19937_64& random) {
  std::vector<Asked> asked;
  const auto draw = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  for (int index = 0; index < 8; ++index) {
    const std::size_t size = draw(12'000);
    const std::string number = std::to_string(size), pause = std::to_string(draw(30));
    const std::string content = text_of(size);
    switch (draw(8)) {
      case 0: asked.push_back({client.get("/text/" + number), "200", trial_text(size)}); break;
      case 1: asked.push_back({client.get("/ready/" + number), "200", trial_text(size)}); break;
      case 2:
        asked.push_back(
            {client.get("/ticks/5/" + pause, {{"priority", "u=1, i"}}), "200", trial_ticks(5)});
        break;
      case 3:
        asked.push_back({client.post("/mirror/" + pause, content), "200", trial_mirrored(content)});
        break;
      case 4:
        asked.push_back({client.post("/collect", content), "200", trial_digest(content)});
        break;
      case 5:
        asked.push_back({client.post("/read/" + pause, content), "200", trial_digest(content)});
        break;
      case 6: asked.push_back({client.get("/unmodified"), "304", ""}); break;
      default: asked.push_back({client.get("/throw-later/" + pause), "500", "*"}); break;
    }
  }
  return asked;
}

TEST(Http2Seeds, every_stream_gets_its_reply_whatever_the_kernel_and_the_network_do) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    std::mt19937_64 random(seed);
    WorldOptions options;
    options.seed = seed;
    options.faults = SimFaults::random(seed).lossless();
    World world(options);
    {
      Http2ClientOptions windows;
      windows.stream_window = 200 + static_cast<std::uint32_t>(random() % 20'000);
      windows.connection_window = 65'535 + static_cast<std::uint32_t>(random() % 100'000);
      Http2Client client(world, windows);
      const auto asked = ask_for_everything(client, random);
      ASSERT_TRUE(client.wait_for_all()) << "seed " << seed;
      for (const Asked& each : asked) {
        const Http2Reply& reply = client.reply(each.id);
        ASSERT_EQ(reply.status, each.status) << "seed " << seed << " stream " << each.id;
        const bool as_expected = each.content == "*" || reply.content == each.content;
        ASSERT_TRUE(as_expected) << "seed " << seed << " stream " << each.id;
      }
      client.peer().close();
    }
    expect_rest(world);
  }
}

TEST(Http2Seeds, whoever_leaves_at_any_moment_leaves_nothing_behind) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    std::mt19937_64 random(seed);
    WorldOptions options;
    options.seed = seed;
    options.faults = SimFaults::random(seed);
    World world(options);
    {
      Http2Client client(world);
      ask_for_everything(client, random);
      world.run_for(microseconds(static_cast<std::int64_t>(random() % 20'000)));
      switch (random() % 3) {
        case 0: client.peer().reset(); break;
        case 1: client.peer().finish(); break;
        default: client.peer().close(); break;
      }
      world.run_for(seconds(2));
    }
    expect_rest(world);
  }
}

TEST(Http2, the_preface_may_come_byte_by_byte_and_http_1_is_served_beside_it) {
  World world;
  Http2Client client(world);
  ScriptedClient scripted(world);
  scripted.send_bytes("GET /text/5 HTTP/1.1\r\nHost: a\r\n\r\n");
  scripted.expect_reply();
  ASSERT_TRUE(scripted.wait_for(1));
  EXPECT_EQ(scripted.content(), trial_text(5));
  engine::SimPeer slow(world.network());
  slow.connect(world.port(Site::trial));
  const std::string preface =
      std::string(http2::client_preface) + http2::frame(http2::FrameType::settings, 0, 0);
  for (const char c : preface) {
    slow.send({&c, 1});
    world.run_for(milliseconds(1));
  }
  const auto frames = http2::describe_all(slow.received());
  EXPECT_EQ(frames,
            (std::vector<std::string>{"SETTINGS 0", "WINDOW_UPDATE 0 196609", "SETTINGS 0 ack"}));
  EXPECT_EQ(world.http2(Site::trial).counters().connections, 2u);
}

TEST(Http2, the_preface_behind_a_request_of_http_1_is_refused) {
  World world;
  engine::SimPeer peer(world.network());
  peer.connect(world.port(Site::trial));
  peer.send("GET /text/5 HTTP/1.1\r\nHost: a\r\n\r\n");
  world.run_for(seconds(1));
  EXPECT_TRUE(Bytes(peer.received()).starts_with("HTTP/1.1 200"));
  peer.send(std::string(http2::client_preface) + http2::frame(http2::FrameType::settings, 0, 0));
  world.run_for(seconds(1));
  EXPECT_TRUE(Bytes(peer.received()).contains("HTTP/1.1 505"));
  EXPECT_EQ(world.http2(Site::trial).counters().connections, 0u);
}

TEST(Http2, a_slow_handler_does_not_hold_up_the_others) {
  World world;
  Http2Client client(world);
  const auto slow = client.get("/sleep/5000");
  const auto fast = client.get("/text/10");
  world.run_for(milliseconds(100));
  EXPECT_TRUE(client.is_over(fast));
  EXPECT_FALSE(client.is_over(slow));
  EXPECT_TRUE(client.wait_for_all());
}

TEST(Http2, content_that_costs_much_is_made_in_turns_with_everybody_else) {
  constexpr int pieces = 1'000;
  int asked = 0;
  WorldOptions options;
  options.more_routes = [&](Router& router) {
    router.get("/costly", [&asked] {
      return Reply::stream("text/plain", pieces * 100, [&asked](ContentSink& sink) {
        if (!sink.write(std::string(100, 'x'))) return false;
        if (++asked == pieces) return true;
        EXPECT_TRUE(sink.yield()) << "it would have to go on, and nobody else could";
        return false;
      });
    });
  };
  World world(options);
  Http2Client client(world);
  const auto costly = client.get("/costly");
  ASSERT_TRUE(world.run_while_not([&] { return asked > 0; }));
  const auto other = client.get("/text/10");
  int most = 0;
  while (!client.is_over(costly) && !world.http2(Site::trial).counters().streams_reset) {
    const int before = asked;
    world.turn(microseconds(100));
    most = std::max(most, asked - before);
    if (client.is_over(other) && before < pieces / 2) break;
  }
  EXPECT_TRUE(client.is_over(other)) << "before half of the other was made";
  EXPECT_LE(most, 32);
  ASSERT_TRUE(client.wait_for_all());
  EXPECT_EQ(client.reply(costly).content, std::string(pieces * 100, 'x'));
}

TEST(Http2, what_is_more_urgent_is_sent_first) {
  World world;
  Http2ClientOptions options;
  options.opens_windows = false;
  options.stream_window = 1 << 20;
  Http2Client client(world, options);
  const auto blocker = client.get("/text/65535", {{"priority", "u=0"}});  // all of the window
  const auto last = client.get("/text/20000", {{"priority", "u=6"}});
  const auto second = client.get("/text/20000");
  const auto first = client.get("/text/20000", {{"priority", "u=0"}});
  world.run_for(seconds(1));
  EXPECT_TRUE(client.is_over(blocker));
  EXPECT_EQ(client.over(), 1u);
  client.open_window(20'000);
  world.run_for(seconds(1));
  EXPECT_TRUE(client.is_over(first));
  EXPECT_EQ(client.over(), 2u);
  EXPECT_FALSE(client.is_over(second) || client.is_over(last));
}

TEST(Http2, streams_that_are_incremental_share_the_connection) {
  World world;
  Http2ClientOptions options;
  options.opens_windows = false;
  options.stream_window = 1 << 20;
  Http2Client client(world, options);
  const auto blocker = client.get("/text/65535", {{"priority", "u=0"}});
  const auto one = client.get("/text/60000", {{"priority", "i"}});
  const auto other = client.get("/text/60000", {{"priority", "i"}});
  world.run_for(seconds(1));
  EXPECT_TRUE(client.is_over(blocker));
  client.open_window(64 * 1024);
  world.run_for(seconds(1));
  EXPECT_EQ(client.reply(one).content.size(), 32u * 1024);
  EXPECT_EQ(client.reply(other).content.size(), 32u * 1024);
}

TEST(Http2, a_hundred_streams_with_closed_windows_hold_a_bounded_share_and_are_ended_in_time) {
  WorldOptions world_options;
  world_options.http.http2.held_bytes_max = 512 * 1024;
  World world(world_options);
  Http2ClientOptions options;
  options.stream_window = 0;
  Http2Client client(world, options);
  for (int index = 0; index < 100; ++index) client.get("/text/100000");
  world.run_for(seconds(10));
  EXPECT_EQ(client.begun(), 6u);  // 100,000 each, until 512 KiB are held; the others wait
  EXPECT_EQ(world.http2(Site::trial).counters().requests_held, 94u);
  EXPECT_EQ(client.over(), 0u);
  world.run_for(seconds(600));
  EXPECT_EQ(world.http2(Site::trial).counters().streams_stalled, 100u);
  EXPECT_EQ(client.over(), 100u);
}

TEST(Http2, streams_with_closed_windows_that_are_made_as_they_are_taken_hold_nothing) {
  World world;
  Http2ClientOptions options;
  options.stream_window = 0;
  Http2Client client(world, options);
  for (int index = 0; index < 100; ++index) client.get("/endless");
  world.run_for(seconds(10));
  EXPECT_EQ(client.begun(), 100u);
  EXPECT_LE(world.trial().octets_made(), 100u * 4096);  // one piece each, not taken
  EXPECT_EQ(world.http2(Site::trial).counters().requests_held, 0u);
}

TEST(Http2, content_that_no_handler_reads_stops_at_the_windows) {
  World world;
  Http2Client client(world);
  for (int index = 0; index < 10; ++index) client.post("/read-never", text_of(300'000));
  world.run_for(seconds(5));
  const http2::Limits limits;
  // Each handler has read one piece; the rest is as much as the windows allowed, and no more.
  EXPECT_LE(world.reactor().counters().bytes_received,
            limits.connection_window_bytes + 10 * 16'384u + 10'000u);
}

TEST(Http2, a_handler_that_is_late_is_answered_for_and_content_that_is_late_too) {
  World world;
  Http2Client client(world);
  const auto never = client.get("/never");
  const auto begun = client.get("/never-begun");
  const auto waits = client.begin_post("/collect");
  const auto expects = client.get("/text/3");
  world.run_for(seconds(40));
  EXPECT_EQ(client.reply(never).status, "503");
  EXPECT_EQ(client.reply(begun).reset, 2);
  EXPECT_EQ(client.reply(waits).status, "408");
  EXPECT_EQ(client.reply(expects).content, trial_text(3));
  EXPECT_EQ(world.http_counters().handler_timeouts, 2u);
}

TEST(Http2, too_much_content_is_413_whether_it_was_announced_or_not) {
  World world;
  Http2Client client(world);
  const auto announced =
      client.post("/collect-small", text_of(2'000), {{"content-length", "2000"}});
  const auto silent = client.post("/collect-small", text_of(2'000));
  const auto fits = client.post("/collect-small", text_of(1'000));
  ASSERT_TRUE(client.wait_for_all());
  EXPECT_EQ(client.reply(announced).status, "413");
  EXPECT_EQ(client.reply(silent).status, "413");
  EXPECT_EQ(client.reply(fits).content, trial_digest(text_of(1'000)));
}

TEST(Http2, an_upload_that_is_refused_early_is_reset_long_after_its_reply_and_once) {
  World world;
  Http2Client client(world);
  const auto large = client.post("/collect-small", text_of(1'000'000));
  const auto waits = client.begin_post("/collect-small");
  const Duration linger = world.reactor().options().linger_timeout;
  world.run_for(milliseconds(linger.ns / 1'000'000 - 100));
  EXPECT_EQ(client.reply(large).status, "413");
  EXPECT_TRUE(client.reply(large).ended);
  EXPECT_EQ(client.reply(large).reset, -1);
  const http2::Limits limits;
  EXPECT_LE(world.reactor().counters().bytes_received, limits.stream_window_bytes + 2'000u);
  world.run_for(milliseconds(200));
  EXPECT_EQ(client.reply(large).reset, 0);  // NO_ERROR: do not send the rest
  EXPECT_EQ(client.reply(waits).reset, -1);
  EXPECT_EQ(client.goaway(), -1);
  // A client that goes on sending in small pieces buys no more time.
  const auto trickles = client.begin_post("/collect-small");
  client.send(http2::FrameType::data, 0, trickles, text_of(2'000));
  for (std::int64_t tenths = linger.ns / 100'000'000 + 2; tenths != 0; --tenths) {
    world.run_for(milliseconds(100));
    if (client.reply(trickles).reset < 0) {
      client.send(http2::FrameType::data, 0, trickles, "0123456789");
    }
  }
  EXPECT_EQ(client.reply(trickles).status, "413");
  EXPECT_EQ(client.reply(trickles).reset, 0);
}

TEST(Http2, middleware_sees_what_it_sees_of_http_1) {
  World world;
  Http2Client client(world);
  const auto refused = client.get("/guarded/plain");
  const auto served = client.get("/guarded/sleep/5", {{"x-token", "t"}});
  ASSERT_TRUE(client.wait_for_all());
  EXPECT_EQ(client.reply(refused).status, "401");
  EXPECT_EQ(client.reply(served).status, "200");
}

TEST(Http2, a_drain_finishes_what_is_in_flight_and_says_goodbye) {
  World world;
  Http2Client client(world);
  const auto slow = client.get("/sleep/2000");
  world.run_for(milliseconds(100));
  world.reactor().request_drain(seconds(10));
  world.run_for(milliseconds(100));
  EXPECT_EQ(client.goaway(), 0);
  EXPECT_FALSE(client.is_over(slow));
  world.run_for(seconds(3));
  EXPECT_EQ(client.reply(slow).status, "200");
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_EQ(world.reactor().counters().cut_off, 0u);
}

TEST(Http2, a_reply_that_closes_ends_the_connection_after_the_others) {
  World world;
  Http2Client client(world);
  const auto slow = client.get("/sleep/1000");
  const auto closing = client.get("/close");
  world.run_for(seconds(3));
  EXPECT_EQ(client.reply(closing).status, "200");
  EXPECT_EQ(client.reply(slow).status, "200");
  EXPECT_EQ(client.goaway(), 0);
  EXPECT_TRUE(client.peer().saw_end());
}

TEST(Http2, rapid_reset_cancels_handlers_and_then_the_connection) {
  World world;
  Http2Client client(world);
  for (int index = 0; index < 300; ++index) {
    const auto id = client.get("/never");
    client.send(http2::FrameType::rst_stream, 0, id, http2::number(8));
  }
  world.run_for(seconds(5));
  EXPECT_EQ(client.goaway(), 11);
  EXPECT_EQ(count(world, Failure::rapid_reset), 1u);
  EXPECT_EQ(world.trial().frames(), 0);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
