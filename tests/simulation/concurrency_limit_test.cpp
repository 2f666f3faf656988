// A concurrency limit on connections: who runs, who waits, and who is refused.
#include "katana/http/middleware/concurrency_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/http/handlers/websocket.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"

namespace katana::simulation {
namespace {

class LimitedRoute : public testing::Test {
 protected:
  // Requests of `work` each.
  void limit(const ConcurrencyLimitOptions& options, Duration work) {
    limit_ = std::make_unique<ConcurrencyLimit>(options);
    WorldOptions of_world;
    of_world.more_routes = [this, work](Router& router) {
      Group group = router.group("/limited");
      group.use(*limit_);
      group.get("/{n}", [this, work](Path<std::string> n) -> Task<Reply> {
        most_ = std::max(most_, limit_->statistics().running);
        order_ += *n;
        co_await net::sleep_for(work);
        co_return Reply::text(Text(*n));
      });
      Group sockets = router.group("");
      sockets.use(*limit_);
      sockets.websocket("/limited-socket", WebSocketCallbacks{});
    };
    world_ = std::make_unique<World>(of_world);
    client_ = std::make_unique<Http2Client>(*world_);
  }
  std::vector<std::uint32_t> ask(int count) {
    std::vector<std::uint32_t> ids;
    for (int number = 0; number < count; ++number) {
      ids.push_back(client_->get("/limited/" + std::string(1, static_cast<char>('a' + number))));
    }
    return ids;
  }
  std::size_t answered(const std::vector<std::uint32_t>& ids, const char* status) {
    return static_cast<std::size_t>(std::ranges::count_if(
        ids, [&](std::uint32_t id) { return client_->reply(id).status == status; }));
  }
  void rest() {
    EXPECT_EQ(limit_->statistics().running, 0u);
    EXPECT_EQ(limit_->statistics().waiting, 0u);
    client_->peer().close();
    expect_rest(*world_);
  }

  std::unique_ptr<ConcurrencyLimit> limit_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Http2Client> client_;
  std::uint32_t most_ = 0;
  std::string order_;
};

TEST_F(LimitedRoute, requests_beyond_it_wait_in_their_order) {
  limit({.running_max = 2}, milliseconds(50));
  const Instant begin = world_->now();
  const auto ids = ask(7);
  EXPECT_TRUE(client_->wait_for_all());
  EXPECT_EQ(answered(ids, "200"), 7u);
  EXPECT_EQ(most_, 2u);
  EXPECT_EQ(order_, "abcdefg");
  EXPECT_GE(world_->now() - begin, milliseconds(200));
  rest();
}

TEST_F(LimitedRoute, a_full_queue_and_a_long_wait_are_answered_503) {
  limit({.running_max = 1, .waiting_max = 3, .wait_max = milliseconds(120)}, milliseconds(100));
  const auto ids = ask(6);
  EXPECT_TRUE(client_->wait_for_all());
  EXPECT_EQ(answered(ids, "200"), 2u);
  EXPECT_EQ(answered(ids, "503"), 4u);
  EXPECT_EQ(limit_->statistics().refused_full, 2u);
  EXPECT_EQ(limit_->statistics().refused_late, 2u);
  rest();
}

TEST_F(LimitedRoute, in_a_queue_that_stands_nobody_waits_long) {
  limit({.running_max = 1,
         .wait_max = seconds(5),
         .busy_after = milliseconds(100),
         .busy_wait_max = milliseconds(20)},
        milliseconds(50));
  const auto first = ask(20);
  world_->run_for(milliseconds(200));
  const Instant begin = world_->now();
  const std::uint32_t late = client_->get("/limited/z");
  world_->run_while_not([&] { return client_->is_over(late); }, seconds(5));
  EXPECT_EQ(client_->reply(late).status, "503");
  EXPECT_LE(world_->now() - begin, milliseconds(40));
  EXPECT_TRUE(client_->wait_for_all());
  EXPECT_EQ(answered(first, "200"), 20u) << "who came before goes on as it was promised";
  rest();
}

TEST_F(LimitedRoute, who_leaves_gives_the_place_back_whether_it_ran_or_waited) {
  limit({.running_max = 1}, seconds(5));
  const auto ids = ask(4);
  world_->run_for(milliseconds(50));
  EXPECT_EQ(limit_->statistics().waiting, 3u);
  client_->send(http2::FrameType::rst_stream, 0, ids[1], http2::number(8));  // waits
  client_->send(http2::FrameType::rst_stream, 0, ids[0], http2::number(8));  // runs
  world_->run_for(milliseconds(50));
  EXPECT_EQ(order_, "ac");
  EXPECT_EQ(limit_->statistics().waiting, 1u);
  // Both at once: the place that comes free is passed on by a message that finds no waiter.
  client_->send(http2::FrameType::rst_stream, 0, ids[2], http2::number(8));
  client_->send(http2::FrameType::rst_stream, 0, ids[3], http2::number(8));
  world_->run_for(milliseconds(50));
  EXPECT_EQ(limit_->statistics().running, 0u);
  rest();
}

// A WebSocket connection is the work of its request.
TEST_F(LimitedRoute, a_websocket_connection_keeps_its_place_until_it_ends) {
  limit({.running_max = 2, .wait_max = milliseconds(50)}, milliseconds(10));
  const std::uint32_t first = client_->connect("/limited-socket");
  const std::uint32_t second = client_->connect("/limited-socket");
  world_->run_for(milliseconds(20));
  EXPECT_EQ(client_->reply(first).status, "200");
  EXPECT_EQ(client_->reply(second).status, "200");
  EXPECT_EQ(limit_->statistics().running, 2u);
  const std::uint32_t third = client_->connect("/limited-socket");
  world_->run_for(milliseconds(100));
  EXPECT_EQ(client_->reply(third).status, "503");
  client_->send(http2::FrameType::rst_stream, 0, first, http2::number(8));
  world_->run_for(milliseconds(10));
  EXPECT_EQ(limit_->statistics().running, 1u);
  client_->send_data(second, {}, true);
  world_->run_for(milliseconds(10));
  EXPECT_EQ(limit_->statistics().running, 0u);
  // The same on a connection of HTTP/1.1.
  ScriptedClient old(*world_);
  old.send_bytes(head_of("GET", "/limited-socket",
                         "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Version: 13\r\n"
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  world_->run_for(milliseconds(20));
  EXPECT_EQ(limit_->statistics().running, 1u);
  old.peer().reset();
  world_->run_for(milliseconds(20));
  rest();
}

TEST_F(LimitedRoute, a_connection_that_breaks_takes_its_places_along) {
  limit({.running_max = 2}, seconds(5));
  ask(6);
  world_->run_for(milliseconds(50));
  client_->peer().reset();
  world_->run_for(milliseconds(50));
  EXPECT_EQ(limit_->statistics().running, 0u);
  expect_rest(*world_);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
