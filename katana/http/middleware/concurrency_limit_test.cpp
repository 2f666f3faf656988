// Rules of a concurrency limit, each at its bound, in virtual time. app/concurrency_limit_test.cpp
// tests reactors that share one, tests/simulation tests seeds.
#include "katana/http/middleware/concurrency_limit.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

// A handler that takes a second; its body says how many handlers began before it.
class ConcurrencyLimitRules : public ::testing::Test {
 protected:
  testing::TestServer& server() {
    if (server_) return *server_;
    limit.emplace(options);
    Router router;
    router.use(*limit);
    router.get("/slow", [this]() -> Task<Reply> {
      const int number = ++begun;
      co_await net::sleep_for(seconds(1));
      co_return Reply::text(format_text("{}", number));
    });
    return server_.emplace(std::move(router).build());
  }
  // Sends `count` more requests, and lets each arrive.
  void send(int count) {
    for (; count > 0; --count) {
      replies.push_back(server().begin_get("/slow"));
      server().advance(milliseconds(1));
    }
  }
  unsigned status_of(std::size_t index) { return replies.at(index).reply().status(); }

  ConcurrencyLimitOptions options{.running_max = 2,
                                  .waiting_max = 1,
                                  .wait_max = seconds(60),
                                  .busy_after = seconds(60),
                                  .busy_wait_max = milliseconds(20)};
  std::optional<ConcurrencyLimit> limit;
  std::vector<testing::PendingReply> replies;
  int begun = 0;

 private:
  std::optional<testing::TestServer> server_;
};

TEST_F(ConcurrencyLimitRules, so_many_run_so_many_wait_and_the_next_is_told_when_to_come_again) {
  send(4);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(limit->statistics().running, 2u);
  EXPECT_EQ(limit->statistics().waiting, 1u);
  EXPECT_EQ(limit->statistics().refused_full, 1u);
  EXPECT_EQ(replies[3].reply().status(), 503u);
  EXPECT_EQ(replies[3].reply().header("Retry-After"), "1");
  server().advance(seconds(1));
  EXPECT_EQ(begun, 3) << "who waited has the place of the first that ended";
  EXPECT_EQ(limit->statistics().waiting, 0u);
  for (const std::size_t index : {0u, 1u, 2u}) EXPECT_EQ(status_of(index), 200u) << index;
  EXPECT_EQ(limit->statistics().running, 0u);
  EXPECT_EQ(limit->statistics().refused_late, 0u);
}

TEST_F(ConcurrencyLimitRules, places_go_to_those_that_wait_in_their_order) {
  options.running_max = 1;
  options.waiting_max = 3;
  send(4);
  for (const std::size_t index : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(replies[index].reply().content(), std::to_string(index + 1));
  }
  send(1);
  EXPECT_EQ(status_of(4), 200u) << "the limit is free again";
}

TEST_F(ConcurrencyLimitRules, nobody_waits_for_longer_than_wait_max) {
  options.running_max = 1;
  options.wait_max = milliseconds(200);
  send(2);
  server().advance(milliseconds(190));
  EXPECT_EQ(limit->statistics().waiting, 1u);
  server().advance(milliseconds(20));
  EXPECT_EQ(limit->statistics().waiting, 0u);
  EXPECT_EQ(limit->statistics().refused_late, 1u);
  EXPECT_EQ(status_of(1), 503u);
  EXPECT_EQ(status_of(0), 200u);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(limit->statistics().running, 0u);
}

TEST_F(ConcurrencyLimitRules, in_a_queue_that_stands_what_comes_waits_for_busy_wait_max_alone) {
  options.running_max = 1;
  options.waiting_max = 10;
  options.busy_after = milliseconds(100);
  send(2);
  server().advance(milliseconds(90));
  send(1);  // the queue is not empty for less than busy_after
  server().advance(milliseconds(30));
  send(1);
  server().advance(milliseconds(30));
  EXPECT_EQ(limit->statistics().refused_late, 1u);
  EXPECT_EQ(limit->statistics().waiting, 2u);
  EXPECT_EQ(status_of(3), 503u);
  for (const std::size_t index : {0u, 1u, 2u}) EXPECT_EQ(status_of(index), 200u) << index;
}

TEST_F(ConcurrencyLimitRules, a_raised_limit_lets_on_those_that_wait_and_a_lowered_one_is_reached) {
  options.running_max = 1;
  options.waiting_max = 3;
  send(4);
  options.running_max = 3;
  limit->set(options);
  server().advance(milliseconds(1));
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(limit->statistics().running, 3u);
  options.running_max = 1;
  limit->set(options);
  server().advance(milliseconds(990));  // the first ends: two others run, which is more than one
  EXPECT_EQ(status_of(0), 200u);
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(limit->statistics().running, 2u);
  for (const std::size_t index : {1u, 2u, 3u}) EXPECT_EQ(status_of(index), 200u) << index;
  EXPECT_EQ(begun, 4);
  EXPECT_EQ(limit->statistics().running, 0u);
}

TEST_F(ConcurrencyLimitRules, a_limit_that_is_set_while_none_waits_begins_nothing) {
  send(1);
  limit->set(options);
  server().advance(milliseconds(1));
  EXPECT_EQ(limit->statistics().running, 1u);
  EXPECT_EQ(status_of(0), 200u);
  EXPECT_EQ(limit->statistics().running, 0u);
}

TEST(ConcurrencyLimitOptions, without_a_place_are_refused) {
  EXPECT_ANY_THROW(ConcurrencyLimit({.running_max = 0}));
  ConcurrencyLimit limit({.running_max = 1});
  EXPECT_ANY_THROW(limit.set({.running_max = 0}));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
