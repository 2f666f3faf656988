// The deadline of a request: its route's timeout, in middleware and handler, and nowhere else.
#include <gtest/gtest.h>

#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::simulation {
namespace {

// To 10 ms: a timer is late by less than one.
std::string left_now() {
  const auto left = net::remaining_time();
  return left ? std::to_string((left->count_ms() + 5) / 10 * 10) : "none";
}

Task<Reply> look() {
  std::string seen = left_now();
  co_await net::sleep_for(milliseconds(500));
  seen += " " + left_now();
  (void)co_await net::with_timeout(
      [](std::string& to) -> Task<void> {
        to += " " + left_now();
        co_return;
      }(seen),
      milliseconds(100));
  co_return Reply::text(Text(seen));
}

katana::testing::TestServer make_server(bool middleware) {
  Router router;
  if (middleware) {
    router.use([]() -> Task<void> { co_await net::sleep_for(milliseconds(1000)); });
  }
  router.get("/look", look, {.timeout = seconds(5)}).get("/usual", look);
  router.get("/plain", [] { return Reply::text(Text(left_now())); });
  router.get("/spawn", []() -> Task<Reply> {
    std::string seen;
    (void)net::spawn([](std::string& to) -> Task<void> {
      to = left_now();
      co_return;
    }(seen));
    co_return Reply::text(Text(seen));
  });
  katana::testing::TestOptions options;
  options.http.handler_timeout = seconds(30);
  return katana::testing::TestServer(std::move(router).build(), options);
}

TEST(DeadlineTest, is_that_of_the_route_or_the_usual_one) {
  auto server = make_server(false);
  EXPECT_EQ(server.get("/look").content(), "5000 4500 100");
  EXPECT_EQ(server.get("/usual").content(), "30000 29500 100");
}

TEST(DeadlineTest, goes_on_running_while_middleware_waits) {
  auto server = make_server(true);
  EXPECT_EQ(server.get("/look").content(), "4000 3500 100");
}

TEST(DeadlineTest, of_interleaved_requests_is_their_own) {
  auto server = make_server(false);
  auto first = server.begin_get("/usual");
  auto second = server.begin_get("/look");
  EXPECT_EQ(second.reply().content(), "5000 4500 100");
  EXPECT_EQ(first.reply().content(), "30000 29500 100");
}

TEST(DeadlineTest, plain_handlers_and_spawned_tasks_have_none) {
  auto server = make_server(false);
  EXPECT_EQ(server.get("/plain").content(), "none");
  EXPECT_EQ(server.get("/spawn").content(), "none");
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
