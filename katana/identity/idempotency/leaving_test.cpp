// Tests of requests with a key after their client has left: their end, and the limits until then.
#include <gtest/gtest.h>

#include <coroutine>
#include <string>
#include <vector>

#include "katana/identity/idempotency/idempotency_fixture_test.hpp"

namespace katana::idempotency {
namespace {

class LeavingClientTest : public OrdersTest {
 protected:
  HeldMemory& memory() { return server().reactor().memory(); }
  testing::PendingReply begin(std::string_view target, std::string_view content = "{}",
                              std::string key = "\"k\"") {
    return server().begin("POST", target, content, with_key(std::move(key)));
  }
};

TEST_F(LeavingClientTest, who_has_ended_its_side_does_not_shorten_the_time_of_its_handler) {
  for (const auto protocol : {testing::TestProtocol::http1, testing::TestProtocol::http2}) {
    server_options.protocol = protocol;
    server_options.http.http2.enabled = true;
    front_takes = milliseconds(100);  // as a remote lookup of a principal does
    takes = seconds(10);
    const bool is_first = protocol == testing::TestProtocol::http1;
    auto first = begin("/orders", "{}", is_first ? "\"a\"" : "\"b\"");
    server().advance(milliseconds(10));
    first.half_close();
    server().advance(seconds(3));
    EXPECT_TRUE(first.is_done()) << "it has left, as far as the server knows";
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(store->last_lease, seconds(30 + 2 * 5 + 1))
        << "the key is held for as long as the handler may take";
    server().advance(seconds(8));
    EXPECT_EQ(calls, 1) << "its work was not cut off";
    reset();
  }
}

TEST_F(LeavingClientTest, its_handler_obeys_its_timeout_all_the_same) {
  front_takes = milliseconds(100);
  takes = seconds(100);
  auto first = begin("/orders");
  first.half_close();
  server().advance(seconds(29));
  EXPECT_EQ(server().reactor().tasks().size(), 1u);
  server().advance(seconds(2));
  EXPECT_EQ(server().reactor().tasks().size(), 0u);
  EXPECT_EQ(calls, 0);
}

TEST_F(LeavingClientTest, what_its_handler_keeps_stays_charged_until_it_ends) {
  takes = seconds(10);
  const std::string content(100'000, 'x');
  auto first = begin("/sized", content);
  EXPECT_GE(memory().used_by(Holder::work), content.size());
  EXPECT_LE(memory().used(), 2 * content.size()) << "one copy, and frames";
  first.reset();
  server().advance(seconds(1));
  EXPECT_GE(memory().used(), content.size());
  EXPECT_LE(memory().used(), 2 * content.size());
  server().advance(seconds(10));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(memory().used(), 0u);
}

TEST_F(LeavingClientTest, work_that_nobody_can_end_is_refused_beyond_half_of_the_memory) {
  takes = seconds(10);
  const std::size_t half = memory().bytes_max() / 2;
  const std::string content(1'000'000, 'x');
  std::size_t accepted = 0;
  for (std::size_t number = 0; number * content.size() < memory().bytes_max(); ++number) {
    auto each = begin("/sized", content, "\"k" + std::to_string(number) + "\"");
    server().advance(milliseconds(1));
    accepted += each.is_done() ? 0 : 1;
    if (each.is_done()) EXPECT_EQ(each.status(), 503u);
    each.reset();
    ASSERT_LE(memory().used(), memory().bytes_max());
    ASSERT_LE(memory().used_by(Holder::work), half);
  }
  EXPECT_GE(accepted, half / content.size() - 2);
  EXPECT_EQ(begun, static_cast<int>(accepted));
  server().advance(seconds(20));
  EXPECT_EQ(memory().used(), 0u);
  // A refused request may be sent again.
  takes = {};
  const std::size_t last = memory().bytes_max() / content.size();
  EXPECT_EQ(post("/sized", "\"k" + std::to_string(last - 1) + "\"", content).status(), 200u);
}

TEST_F(LeavingClientTest, a_key_is_free_when_its_client_leaves_before_the_handler_begins) {
  behind_takes = seconds(2);
  auto first = begin("/orders");
  server().advance(seconds(1));
  EXPECT_EQ(store->memory.statistics().keys, 1u);
  first.reset();
  server().advance(milliseconds(10));
  EXPECT_EQ(store->memory.statistics().keys, 0u);
  EXPECT_EQ(statistics().released, 1u);
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(post().status(), 201u);
}

// Waits until its scope is destroyed.
Task<void> hold() { co_await std::suspend_always{}; }

TEST_F(LeavingClientTest, a_key_is_free_though_the_reactor_takes_no_further_task) {
  behind_takes = seconds(2);
  for (const bool is_released : {true, false}) {
    auto first = begin("/orders");
    server().advance(seconds(1));
    net::TaskScope& tasks = server().reactor().tasks();
    while (tasks.takes()) ASSERT_TRUE(tasks.spawn(hold()));
    store->releases_fail = !is_released;
    first.reset();
    server().advance(milliseconds(10));
    EXPECT_EQ(store->memory.statistics().keys, is_released ? 0u : 1u);
    EXPECT_EQ(statistics().released, is_released ? 1u : 0u);
    reset();
  }
}

TEST_F(LeavingClientTest, a_key_that_the_store_does_not_give_back_is_a_failure_that_is_reported) {
  behind_takes = seconds(2);
  store->releases_fail = true;
  auto first = begin("/orders");
  server().advance(seconds(1));
  first.reset();
  server().advance(milliseconds(10));
  EXPECT_EQ(statistics().released, 0u);
  EXPECT_EQ(statistics().store_failures, 1u);
  EXPECT_EQ(server().reactor().tasks().counts().failed, 1u);
}

TEST_F(LeavingClientTest, a_key_that_cannot_be_claimed_is_a_failure_that_is_reported) {
  store->claims_fail = true;
  EXPECT_EQ(post().status(), 503u);
  EXPECT_EQ(server().reactor().tasks().counts().failed, 1u);
}

TEST_F(LeavingClientTest, a_key_is_free_when_the_server_ends_before_the_handler_begins) {
  behind_takes = seconds(2);
  auto first = begin("/orders");
  server().advance(seconds(1));
  reset();
  EXPECT_EQ(store->memory.statistics().keys, 0u);
}

TEST_F(LeavingClientTest, a_key_stays_taken_when_a_handler_that_writes_in_pieces_is_cancelled) {
  auto first = begin("/held-pieces");
  server().advance(seconds(1));
  ASSERT_EQ(begun, 1);
  first.reset();
  server().advance(seconds(1));
  EXPECT_EQ(store->memory.statistics().keys, 1u) << "what it began may still take effect";
  EXPECT_EQ(statistics().released, 0u);
}

TEST_F(LeavingClientTest, a_stream_that_was_reset_counts_until_its_handler_has_ended) {
  server_options.protocol = testing::TestProtocol::http2;
  server_options.http.http2.enabled = true;
  server_options.http.http2.limits.streams_max = 2;
  takes = seconds(10);
  for (const char* key : {"\"a\"", "\"b\""}) {
    auto each = begin("/orders", "{}", key);
    server().advance(milliseconds(10));
    each.reset();
    server().advance(milliseconds(10));
  }
  auto third = begin("/orders", "{}", "\"c\"");
  server().advance(seconds(1));
  EXPECT_EQ(begun, 2) << "two are at work, as many as were agreed";
  server().advance(seconds(10));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(post("/orders", "\"d\"").status(), 201u);
}

}  // namespace
}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
