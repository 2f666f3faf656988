// HttpClient through the whole stack: a reactor that asks itself, over a simulated network.
#include "katana/http/client/http_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/simulation/seed_share.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

using client::Http2;
using client::HttpClient;
using client::HttpClientOptions;
using client::Request;
using client::Response;

// More of them: KATANA_CLIENT_SEEDS.
std::uint64_t client_seeds() { return number_from("KATANA_CLIENT_SEEDS", 15); }

struct Fetch {
  Task<Result<Response>> task;
  std::string content;
  bool started = false;
};

HttpClientOptions client_options(Http2 http2 = Http2::never) {
  HttpClientOptions options;
  options.http2 = http2;
  options.connections_max = 3;
  options.idle_timeout = seconds(2);
  options.timeout = seconds(300);
  options.connect_timeout = seconds(60);
  options.seed = 7;
  options.tls.system_authorities = false;
  return options;
}

Fetch ask(const HttpClient& http, const std::string& origin, std::mt19937_64& random) {
  const std::size_t size = static_cast<std::size_t>(random() % 9'000);
  const std::string content(size, static_cast<char>('a' + random() % 26));
  const std::string number = std::to_string(size), pause = std::to_string(random() % 30);
  const auto post = [&](const std::string& path) {
    return http.fetch(Request("POST", origin + path).content(content, "text/plain"));
  };
  switch (random() % 5) {
    case 0: return {http.fetch(Request(origin + "/text/" + number)), trial_text(size)};
    case 1: return {http.fetch(Request(origin + "/ready/" + number)), trial_text(size)};
    case 2: return {post("/mirror/" + pause), trial_mirrored(content)};
    case 3: return {post("/collect"), trial_digest(content)};
    default: return {post("/read/" + pause), trial_digest(content)};
  }
}

using Clients = std::vector<HttpClient>;

// One of each protocol.
Clients make_clients(const std::vector<Http2>& protocols) {
  Clients made;
  for (const Http2 each : protocols) made.push_back(*HttpClient::make(client_options(each)));
  return made;
}

// Eight requests at a time, over three connections or one of HTTP/2; then everything is given back.
void run_client_seed(std::uint64_t seed, bool lossless, const std::vector<Http2>& protocols) {
  WorldOptions options;
  options.seed = seed;
  options.faults = SimFaults::random(seed);
  if (lossless) options.faults = options.faults.lossless();
  options.http.limits.head_timeout = options.http.limits.content_timeout = seconds(600);
  World world(options);
  const Clients clients = make_clients(protocols);
  world.turn(Duration{});
  const std::string origin = "http://127.0.0.1:" + std::to_string(world.port(Site::trial));
  std::mt19937_64 random(seed);
  std::deque<Fetch> asked;
  for (std::size_t count = 0; count < 8; ++count) {
    asked.push_back(ask(clients[count % clients.size()], origin, random));
    asked.back().task.start();
  }
  const auto all_done = [&] {
    return std::ranges::all_of(asked, [](const Fetch& each) { return each.task.done(); });
  };
  ASSERT_TRUE(world.run_while_not(all_done)) << world.network().explain();
  for (Fetch& each : asked) {
    auto result = each.task.result();
    if (!result) {
      ASSERT_FALSE(lossless) << result.error().describe() << world.network().explain();
      continue;
    }
    EXPECT_EQ(result->status(), 200u) << world.network().explain();
    EXPECT_EQ(result->content(), each.content) << world.network().explain();
  }
  asked.clear();
  world.run_to_rest();
  for (const std::string& fault : world.faults_at_rest()) {
    ADD_FAILURE() << fault << world.network().explain();
  }
}

class HttpClientSeeds : public testing::TestWithParam<std::vector<Http2>> {};

TEST_P(HttpClientSeeds, every_request_gets_its_reply_on_a_network_that_loses_nothing) {
  for (std::uint64_t seed = 1; seed <= client_seeds() && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    run_client_seed(seed, true, GetParam());
  }
}

TEST_P(HttpClientSeeds, a_reply_is_right_or_an_error_on_a_network_that_breaks) {
  for (std::uint64_t seed = 1; seed <= client_seeds() && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    run_client_seed(seed, false, GetParam());
  }
}

TEST(HttpClientWorld, nobody_listens_and_the_request_says_so) {
  World world;
  auto http = HttpClient::make(client_options());
  ASSERT_TRUE(http);
  world.turn(Duration{});
  auto task = http->fetch(Request("http://127.0.0.1:9/"));
  task.start();
  ASSERT_TRUE(world.run_while_not([&] { return task.done(); }));
  const auto result = task.result();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().describe().find("Connection refused"), std::string::npos)
      << result.error().describe();
}

TEST(HttpClientWorld, a_request_ends_by_the_deadline_of_whoever_asks) {
  World world;
  auto http = HttpClient::make(client_options());
  ASSERT_TRUE(http);
  world.turn(Duration{});
  const Instant began = world.now();
  const std::string origin = "http://127.0.0.1:" + std::to_string(world.port(Site::trial));
  auto task = http->fetch(Request("POST", origin + "/mirror/5000")
                              .content("slowly", "text/plain")
                              .timeout(seconds(200)));
  {
    const DeadlineScope time(began + milliseconds(5));
    task.start();
  }
  ASSERT_TRUE(world.run_while_not([&] { return task.done(); }));
  const auto result = task.result();
  ASSERT_FALSE(result) << result->status();
  EXPECT_EQ(result.error().code(), Code::deadline_exceeded) << result.error().describe();
  EXPECT_LE(world.now() - began, seconds(1));
}

// Requests are destroyed at any moment of their lives, and nothing is left of them.
TEST_P(HttpClientSeeds, cancelled_requests_leave_nothing) {
  for (std::uint64_t seed = 1; seed <= client_seeds() && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    WorldOptions options;
    options.seed = seed;
    options.faults = SimFaults::random(seed);
    World world(options);
    const Clients clients = make_clients(GetParam());
    world.turn(Duration{});
    const std::string origin = "http://127.0.0.1:" + std::to_string(world.port(Site::trial));
    std::mt19937_64 random(seed);
    std::deque<Fetch> asked;
    for (int step = 0; step < 60; ++step) {
      if (random() % 2 == 0) {
        asked.push_back(ask(clients[random() % clients.size()], origin, random));
        asked.back().task.start();
      } else if (!asked.empty()) {
        asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(random() % asked.size()));
      }
      world.turn(milliseconds(static_cast<std::int64_t>(random() % 10)));
    }
    asked.clear();
    world.run_to_rest();
    for (const std::string& fault : world.faults_at_rest()) {
      ADD_FAILURE() << fault << world.network().explain();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HttpClientSeeds,
                         testing::Values(std::vector{Http2::never},
                                         std::vector{Http2::prior_knowledge},
                                         std::vector{Http2::never, Http2::prior_knowledge}),
                         [](const auto& each) {
                           if (each.param.size() == 2) return std::string("mixed");
                           return std::string(each.param[0] == Http2::never ? "http1" : "http2");
                         });

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
