// FakeRedis as a server of a world: KATANA's own users of Redis find it by their settings.
#include "katana/testing/redis/fake/fake_redis.hpp"

#include <gtest/gtest.h>

#include "katana/app/application.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/stores/redis/client.hpp"
#include "katana/stores/redis/lock.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing {
namespace {

using Answer = Task<Result<Reply>>;

Result<Reply> failed(const redis::Error& error) { return problem(503, error.describe()); }

Answer add_to(Path<std::string> name, Inject<redis::Client> redis) {
  auto call = redis->increment(*name);
  const auto count = co_await std::move(call);
  if (!count) co_return failed(count.error());
  co_return Reply::text(std::to_string(*count));
}
Answer take_lock(Path<std::string> name, Inject<redis::Client> redis) {
  const redis::LockTable locks(*redis, "lock:");
  const auto held = co_await locks.try_acquire(*name, seconds(5));
  if (!held) co_return failed(held.error());
  co_return *held ? Reply::text(std::to_string((*held)->token)) : Reply::text("taken");
}

app::ApplicationOptions options() { return {.name = "counter"}; }
void configure(app::Application<app::ApplicationSettings>& app) {
  app.routes([](const registry::Services&, Router& router) {
    router.post("/counters/{name}", add_to);
    router.post("/locks/{name}", take_lock);
  });
}

const NodeOptions with_redis{
    .settings = {"redis.url=redis://redis", "redis.reconnect_max=50ms", "redis.timeout=300ms"}};

std::string asked(World& world, const char* node, const char* target) {
  const Operation got = world.ask(node, "POST", target);
  return got.status == 200 ? got.reply : std::to_string(got.status);
}

TEST(FakeRedis, two_nodes_share_it_by_their_settings) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis");
  world.add("one", options(), configure, with_redis);
  world.add("two", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1") << world.report();
  EXPECT_EQ(asked(world, "two", "/counters/a"), "2");
  EXPECT_EQ(redis.text("a"), "2");
  EXPECT_EQ(asked(world, "one", "/locks/l").size(), 16u);  // microseconds since 1970
  EXPECT_EQ(asked(world, "two", "/locks/l"), "taken");
  world.run(seconds(6));
  EXPECT_NE(asked(world, "two", "/locks/l"), "taken");
  EXPECT_TRUE(world.finish()) << world.report();
}

TEST(FakeRedis, an_outage_refuses_calls_and_keeps_keys) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis");
  world.add("one", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1");
  redis.go_down();
  EXPECT_EQ(asked(world, "one", "/counters/a"), "503");
  redis.come_back();
  world.run(seconds(1));
  EXPECT_EQ(asked(world, "one", "/counters/a"), "2") << world.report();
}

TEST(FakeRedis, a_server_without_a_file_forgets_its_keys) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis", FakeRedisOptions{.keeps_keys = false});
  world.add("one", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1");
  redis.go_down();
  redis.come_back();
  world.run(seconds(1));
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1") << world.report();
}

TEST(FakeRedis, a_fail_over_takes_acknowledged_writes_back) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis", FakeRedisOptions{.replica_lag = seconds(1)});
  world.add("one", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1");
  world.run(seconds(2));
  EXPECT_EQ(asked(world, "one", "/counters/a"), "2");
  EXPECT_EQ(redis.fail_over(), "1 writes");
  world.run(seconds(1));
  EXPECT_EQ(asked(world, "one", "/counters/a"), "2") << world.report();
}

TEST(FakeRedis, a_server_that_hangs_answers_what_it_got_when_it_goes_on) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis");
  world.add("one", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "1");
  redis.hang();
  EXPECT_EQ(asked(world, "one", "/counters/a"), "503");  // a timeout, and an unknown outcome
  redis.go_on();
  world.run(seconds(1));
  EXPECT_EQ(asked(world, "one", "/counters/a"), "3") << world.report();
}

TEST(FakeRedis, plans_have_outages_and_fail_overs_of_it_and_reloads_of_nodes) {
  std::string reports;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    World world({.seed = seed});
    world.add_server<FakeRedis>("redis");
    world.add("one", options(), configure, with_redis);
    world.faults({.within = milliseconds(100),
                  .down_max = milliseconds(50),
                  .reloads_max = 9,
                  .outages_max = 9,
                  .fail_overs_max = 9});
    EXPECT_TRUE(world.finish()) << world.report();
    EXPECT_EQ(asked(world, "one", "/counters/a"), "1") << world.report();
    reports += world.report();
  }
  for (const char* const line : {"redis is down for", "lost 0 writes", "reads its settings"}) {
    EXPECT_NE(reports.find(line), std::string::npos) << line << reports;
  }
}

TEST(FakeRedis, an_eviction_removes_one_key) {
  World world;
  auto& redis = world.add_server<FakeRedis>("redis");
  EXPECT_FALSE(redis.evict("a"));
  EXPECT_EQ(redis.execute({"SET", "a", "1"}).text, "OK");
  EXPECT_TRUE(redis.evict("a"));
  EXPECT_EQ(redis.size(), 0u);
}

TEST(FakeRedis, a_world_without_one_has_nodes_that_keep_state_in_their_memory) {
  World world;
  world.add("one", options(), configure, with_redis);
  EXPECT_EQ(asked(world, "one", "/counters/a"), "503");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
