// One HttpCache, and reactors on their own threads. When a client knows that a change is done, it
// never gets a page from before the change.
#include "katana/http/middleware/http_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <charconv>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

constexpr std::size_t pages = 4;

// The number in the content of a reply; -1: the content is no number.
int number_of(const std::string& reply) {
  int number = -1;
  const std::size_t content = reply.find("\r\n\r\n");
  if (content != std::string::npos) {
    std::from_chars(reply.data() + content + 4, reply.data() + reply.size(), number);
  }
  return number;
}

TEST(HttpCacheThreads, nobody_is_answered_with_what_was_before_a_change_that_is_done) {
  const HttpCache cache({.wait_max = seconds(20)});
  std::array<std::atomic<int>, pages> versions{}, done{};
  std::atomic<int> handled{0};
  Router router;
  router.use(cache.middleware());
  router.get("/pages/{id}", [&](Path<std::size_t> id) -> Task<Reply> {
    const int version = versions[*id % pages].load();
    ++handled;
    co_await net::sleep_for(microseconds(500));
    co_return Reply::text(format_text("{}", version)).with("Cache-Control", "max-age=60");
  });
  router.post("/pages/{id}", [&](Path<std::size_t> id) -> Task<Reply> {
    ++versions[*id % pages];
    co_await net::sleep_for(microseconds(100));
    co_return Reply(204);
  });
  const auto service = std::move(router).build();
  ASSERT_TRUE(service) << service.error().describe();
  server::HttpServer server({.port = 0, .reactors = 4}, *service);
  ASSERT_TRUE(server.start());
  server::serve_clients(
      server,
      [&](std::uint16_t port) {
        std::vector<std::thread> clients;
        for (std::size_t number = 0; number < 8; ++number) {
          clients.emplace_back([&, port, number] {
            server::Client client(port);
            for (std::size_t round = 0; round < 150; ++round) {
              const std::size_t page = (number + round) % pages;
              const std::string target = "/pages/" + std::to_string(page);
              const int least = done[page].load();
              if (number == 0 && round % 8 == 0) {
                client.send("POST " + target +
                            " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
                EXPECT_TRUE(client.receive_reply().starts_with("HTTP/1.1 204 "));
                ++done[page];  // it alone changes pages
                continue;
              }
              client.send_get(target);
              const std::string reply = client.receive_reply();
              ASSERT_TRUE(reply.starts_with("HTTP/1.1 200 ")) << reply;
              EXPECT_GE(number_of(reply), least) << reply;
            }
          });
        }
        for (std::thread& each : clients) each.join();
      },
      1);
  const HttpCacheStatistics statistics = cache.statistics();
  EXPECT_GT(statistics.hits, 500u);
  EXPECT_GT(statistics.waited, 0u);
  EXPECT_LT(handled, 600);
  EXPECT_GT(statistics.invalidated, 0u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
