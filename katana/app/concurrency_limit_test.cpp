// One concurrency limit, and reactors on their own threads: places that go from one to another.
#include "katana/http/middleware/concurrency_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

// Counts the handlers that run, cancelled or not.
struct Present {
  explicit Present(std::atomic<int>& of) : count(of), number(++of) {}
  Present(const Present&) = delete;
  Present& operator=(const Present&) = delete;
  ~Present() { --count; }
  std::atomic<int>& count;
  const int number;
};

TEST(ConcurrencyLimitTest, holds_for_all_reactors_together) {
  // The queue stands all the time, and on a slow machine for longer than it would be borne.
  const ConcurrencyLimit limit(
      {.running_max = 2, .wait_max = seconds(60), .busy_after = seconds(60)});
  std::atomic<int> running{0}, most{0};
  Router router;
  router.use(limit);
  router.get("/", [&]() -> Task<Reply> {
    const Present present(running);
    int before = most;
    while (present.number > before && !most.compare_exchange_weak(before, present.number)) {
    }
    co_await net::sleep_for(milliseconds(1));
    co_return Reply::text("done");
  });
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  server::HttpServer server({.port = 0, .reactors = 4}, *service);
  ASSERT_TRUE(server.start());
  const server::ServerReport report = server::serve_clients(
      server,
      [](std::uint16_t port) {
        std::vector<std::thread> clients;
        for (int number = 0; number < 12; ++number) {
          clients.emplace_back([port, number] {
            for (int round = 0; round < 20; ++round) {
              server::Client client(port);
              client.send_get("/");
              if ((number + round) % 5 == 0) continue;  // leaves while it waits or runs
              const std::string reply = client.receive_reply();
              EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 ")) << reply;
            }
          });
        }
        for (std::thread& each : clients) each.join();
      },
      1);
  EXPECT_GE(report.requests, 192u);
  EXPECT_EQ(most, 2);
  EXPECT_EQ(limit.statistics().running, 0u);
  EXPECT_EQ(limit.statistics().waiting, 0u);
}

TEST(ConcurrencyLimitTest, who_waits_is_let_on_when_it_is_raised_and_a_lower_one_is_reached) {
  ConcurrencyLimitOptions options{
      .running_max = 1, .wait_max = seconds(60), .busy_after = seconds(60)};
  ConcurrencyLimit limit(options);
  std::atomic<int> running{0}, most{0}, ends{0};
  Router router;
  router.use(limit);
  router.get("/", [&]() -> Task<Reply> {
    const Present present(running);
    most = std::max(most.load(), present.number);
    while (ends == 0) co_await net::sleep_for(milliseconds(1));
    --ends;
    co_return Reply::text("done");
  });
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  server::HttpServer server({.port = 0, .reactors = 1}, *service);
  ASSERT_TRUE(server.start());
  server::serve_clients(server, [&](std::uint16_t port) {
    std::vector<std::unique_ptr<server::Client>> clients;
    for (int count = 0; count < 5; ++count) {
      clients.push_back(std::make_unique<server::Client>(port));
      clients.back()->send_get("/");
    }
    while (limit.statistics().waiting < 4) std::this_thread::yield();
    options.running_max = 3;
    limit.set(options);
    EXPECT_EQ(limit.statistics().running, 3u);
    EXPECT_EQ(limit.statistics().waiting, 2u);
    while (running < 3) std::this_thread::yield();
    options.running_max = 1;
    limit.set(options);
    ends = 2;  // two end, and their places stay free
    while (limit.statistics().running > 1) std::this_thread::yield();
    EXPECT_EQ(limit.statistics().waiting, 2u);
    ends = 3;
    for (const auto& client : clients) EXPECT_TRUE(client->receive_reply().ends_with("done"));
  });
  EXPECT_EQ(most, 3);
  EXPECT_EQ(limit.statistics().running, 0u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
