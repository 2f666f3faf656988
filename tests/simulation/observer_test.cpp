#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/http/session/exchange.hpp"
#include "katana/net/reactor/connection.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

using session::ExchangeEnd;

// Writes every exchange down as a line.
class Notes final : public session::ExchangeObserver {
 public:
  void on_exchange_end(session::Exchange& exchange,
                       const session::ExchangeRecord& record) noexcept override {
    static constexpr const char* ends[] = {"replied", "aborted", "peer left"};
    lines.push_back(fmt::format("{} {} {} {} {}", record.method, record.target, record.status,
                                record.content_bytes, ends[static_cast<int>(record.end)]));
    durations.push_back(record.duration);
    requests.push_back(record.request);
    EXPECT_EQ(record.request, exchange.connection_counters().requests);
  }
  std::vector<std::string> lines;
  std::vector<Duration> durations;
  std::vector<std::uint32_t> requests;
};

class Observer : public testing::Test {
 protected:
  Observer() { options.http.observer = &notes; }
  void rest(World& world) {
    world.run_to_rest();
    EXPECT_EQ(world.faults_at_rest(), std::vector<std::string>());
  }
  using Lines = std::vector<std::string>;
  Notes notes;
  WorldOptions options;
};

TEST_F(Observer, is_told_of_every_reply_in_order_with_what_it_was_to) {
  World world(options);
  ScriptedClient client(world);
  client.send(get("/text/5", ""));
  client.send(post("/collect", "hello", ""));
  client.send(get("/nowhere", ""));
  client.send(get("/throw", ""));
  client.send(get("/empty", ""));
  EXPECT_TRUE(client.wait_for(5));
  client.peer().close();
  rest(world);
  ASSERT_EQ(notes.lines.size(), 5u);
  EXPECT_EQ(notes.lines[0], "GET /text/5 200 5 replied");
  EXPECT_TRUE(notes.lines[1].starts_with("POST /collect 200 ")) << notes.lines[1];
  EXPECT_TRUE(notes.lines[2].starts_with("GET /nowhere 404 ")) << notes.lines[2];
  EXPECT_TRUE(notes.lines[3].starts_with("GET /throw 500 ")) << notes.lines[3];
  EXPECT_EQ(notes.lines[4], "GET /empty 204 0 replied");
  EXPECT_EQ(notes.requests, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
}

// The next requests overwrite the buffer that the first one was parsed in.
TEST_F(Observer, knows_the_request_of_a_handler_that_was_suspended) {
  World world(options);
  ScriptedClient client(world);
  client.send(get("/sleep/300", ""));
  for (int number = 0; number < 20; ++number) client.send(get("/text/1", ""));
  ScriptedClient other(world);
  world.run_for(milliseconds(100));
  other.send(get("/text/2", ""));
  EXPECT_TRUE(client.wait_for(21));
  EXPECT_EQ(notes.lines[0], "GET /text/2 200 2 replied");
  EXPECT_EQ(notes.lines[1], "GET /sleep/300 200 12 replied");
  EXPECT_GE(notes.durations[1], milliseconds(300));
  EXPECT_LE(notes.durations[1], milliseconds(303));
  EXPECT_EQ(notes.durations[2], Duration{});
  client.peer().close();
  other.peer().close();
  rest(world);
}

TEST_F(Observer, counts_streamed_content_without_its_framing) {
  World world(options);
  ScriptedClient client(world);
  client.send(get("/ticks/3/10", ""));
  EXPECT_TRUE(client.wait_for(1));
  client.peer().close();
  rest(world);
  EXPECT_EQ(notes.lines,
            Lines{fmt::format("GET /ticks/3/10 200 {} replied", trial_ticks(3).size())});
}

TEST_F(Observer, is_told_of_a_refused_head_without_a_request) {
  World world(options);
  ScriptedClient client(world);
  client.expect_reply();
  client.send_bytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.wait_for_end());
  rest(world);
  ASSERT_EQ(notes.lines.size(), 1u);
  EXPECT_TRUE(notes.lines[0].starts_with("  400 ")) << notes.lines[0];
}

TEST_F(Observer, is_told_when_the_peer_leaves_and_when_a_reply_breaks_off) {
  World world(options);
  ScriptedClient leaving(world), broken(world);
  leaving.send(get("/never", ""));
  broken.send(get("/throw-begun/10", ""));
  world.run_for(milliseconds(100));
  leaving.peer().reset();
  world.run_for(milliseconds(100));
  ASSERT_EQ(notes.lines.size(), 2u);
  EXPECT_TRUE(notes.lines[0].starts_with("GET /throw-begun/10 200 ")) << notes.lines[0];
  EXPECT_TRUE(notes.lines[0].ends_with(" aborted")) << notes.lines[0];
  EXPECT_EQ(notes.lines[1], "GET /never 0 0 peer left");
  broken.peer().close();
  rest(world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
