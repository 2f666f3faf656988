// Memory that clients make a reactor keep outside of its pools: one limit, and the largest holders
// go first.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/data/container/heap_bytes.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

constexpr std::size_t held_limit = 4 * 1024 * 1024;

WorldOptions little_memory() {
  WorldOptions options;
  options.reactor.held_bytes_max = held_limit;
  return options;
}

// A request for a handler that wants its content whole, of which `sent` bytes come.
void begin_upload(ScriptedClient& client, std::size_t announced, std::size_t sent) {
  client.expect_reply();
  client.send_bytes(head_of("POST", "/collect", fmt::format("Content-Length: {}\r\n", announced)));
  client.send_bytes(content_of(sent));
}

TEST(HeldMemory, unfinished_contents_stay_below_the_limit_and_the_largest_are_answered_503) {
  World world(little_memory());
  ScriptedClient small(world);
  begin_upload(small, 20'000, 10'000);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  std::size_t most = 0;
  for (int number = 0; number < 30; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    begin_upload(*clients.back(), 900'000, 800'000);
    for (int turns = 0; turns < 200; ++turns) {
      world.turn(milliseconds(1));
      most = std::max(most, world.reactor().memory().used());
    }
  }
  EXPECT_LE(most, held_limit);
  EXPECT_GT(most, held_limit / 2);
  const auto refused =
      std::ranges::count_if(clients, [](const auto& client) { return client->status() == 503u; });
  EXPECT_GE(refused, 20);
  // Shed, or told so when they wanted more.
  EXPECT_EQ(world.reactor().counters().memory_shed + world.reactor().memory().refused(),
            static_cast<std::uint64_t>(refused));
  // A client that holds little is not asked to give it up.
  EXPECT_EQ(small.status(), 0u);
  small.send_bytes(content_of(10'000));
  EXPECT_TRUE(small.wait_for(1, seconds(20)));
  EXPECT_EQ(small.status(), 200u);
  small.peer().close();
  for (const auto& client : clients) client->peer().reset();
  expect_rest(world);
  EXPECT_EQ(world.reactor().memory().used(), 0u);
}

// The limit has room for three such contents, each in 1 MiB.
constexpr std::size_t content_bytes = 1'000'000;

TEST(HeldMemory, contents_that_do_not_fit_together_are_complete_one_after_another) {
  World world(little_memory());
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 4; ++number)
    clients.push_back(std::make_unique<ScriptedClient>(world));
  for (const auto& client : clients) begin_upload(*client, content_bytes, content_bytes);
  for (const auto& client : clients) {
    EXPECT_TRUE(client->wait_for(1, seconds(20)));
    EXPECT_EQ(client->status(), 200u);
    client->peer().close();
  }
  EXPECT_EQ(world.reactor().counters().memory_shed, 0u);
  EXPECT_GT(world.reactor().counters().memory_pauses, 0u);
  EXPECT_EQ(world.reactor().paused_links().memory_low, 0u);
  expect_rest(world);
  EXPECT_EQ(world.reactor().memory().used(), 0u);
}

TEST(HeldMemory, who_does_not_come_to_an_end_makes_others_wait_for_a_second_and_no_longer) {
  World world(little_memory());
  std::vector<std::unique_ptr<ScriptedClient>> stuck;
  for (int number = 0; number < 4; ++number)
    stuck.push_back(std::make_unique<ScriptedClient>(world));
  for (const auto& client : stuck) begin_upload(*client, content_bytes, 600'000);
  world.run_for(milliseconds(100));
  ASSERT_TRUE(world.reactor().memory().scarce());
  ASSERT_EQ(world.reactor().counters().memory_shed, 0u);
  ScriptedClient client(world);
  begin_upload(client, content_bytes, content_bytes);
  const Instant begin = world.now();
  EXPECT_TRUE(client.wait_for(1, seconds(20)));
  EXPECT_LE(world.now(), begin + world.reactor().options().shed_after + milliseconds(100));
  // A request had to go for that, as soon as none waited any more.
  EXPECT_GT(world.reactor().counters().memory_shed, 0u);
  EXPECT_EQ(world.reactor().paused_links().memory_low, 0u);
  client.peer().close();
  for (const auto& each : stuck) each->peer().reset();
  expect_rest(world);
  EXPECT_EQ(world.reactor().memory().used(), 0u);
}

TEST(HeldMemory, a_content_above_its_routes_bound_is_413_as_ever) {
  World world(little_memory());
  ScriptedClient client(world);
  client.expect_reply();
  client.send_bytes(head_of("POST", "/collect-small", "Content-Length: 1001\r\n"));
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 413u);
  expect_rest(world);
}

// The memory that handlers keep, for as long as their frames are there.
struct Kept {
  Kept(std::size_t& of_all, std::size_t more) : sum(of_all), bytes(more) { sum += bytes; }
  Kept(const Kept&) = delete;
  ~Kept() { sum -= bytes; }
  std::size_t& sum;
  const std::size_t bytes;
};

TEST(HeldMemory, values_that_suspended_handlers_made_of_contents_stay_below_the_limit) {
  std::size_t kept = 0, most_kept = 0;
  WorldOptions options = little_memory();
  options.more_routes = [&](Router& router) {
    router.post("/json-later", [&](Json<container::Value> json) -> Task<Reply> {
      const Kept here(kept, container::heap_bytes(*json));
      most_kept = std::max(most_kept, kept);
      co_await net::sleep_for(seconds(1));
      co_return Reply(204);
    });
  };
  World world(options);
  // 20 KiB of text, and some 600 KiB of values.
  std::string digits = "[1";
  while (digits.size() < 20'000) digits += ",1";
  digits += "]";
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  std::size_t most = 0;
  world.on_turn = [&] { most = std::max(most, world.reactor().memory().used()); };
  for (int number = 0; number < 40; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->expect_reply();
    clients.back()->send_bytes(
        head_of("POST", "/json-later",
                fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n",
                            digits.size())) +
        digits);
    world.run_for(milliseconds(5));
  }
  EXPECT_LE(most, held_limit);
  EXPECT_LE(most_kept, held_limit);
  EXPECT_GT(most_kept, held_limit / 2);
  world.run_for(seconds(3));
  const auto answered = [&](unsigned status) {
    return std::ranges::count_if(clients,
                                 [&](const auto& client) { return client->status() == status; });
  };
  EXPECT_EQ(answered(204) + answered(503), 40);
  EXPECT_GE(answered(204), 3);
  for (const auto& client : clients) client->peer().close();
  expect_rest(world);
}

TEST(HeldMemory, suspended_handlers_are_counted_and_given_back) {
  World world;
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 20; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->send(get("/sleep/1000", ""));
  }
  world.run_for(milliseconds(500));
  EXPECT_GE(world.reactor().memory().used(), 20u * 1024);
  for (const auto& client : clients) {
    EXPECT_TRUE(client->wait_for(1));
    client->peer().close();
  }
  expect_rest(world);
  EXPECT_EQ(world.reactor().memory().used(), 0u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
