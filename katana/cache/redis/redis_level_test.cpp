#include "katana/cache/redis/redis_level.hpp"

#include "katana/redis/redis_fixture_test.hpp"

namespace katana::cache {
namespace {

class RedisLevelTest : public redis::RedisTest {
 protected:
  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisLevel level{client};
};

TEST_F(RedisLevelTest, octets_are_kept_for_their_time_and_until_they_are_removed) {
  const std::string octets("\0\xff\r\n", 4);
  EXPECT_EQ(run(level.get("users:7")).value(), std::nullopt);
  ASSERT_TRUE(run(level.put("users:7", octets, seconds(60))));
  EXPECT_EQ(run(level.get("users:7")).value(), octets);
  const auto left = run(wait(client.time_to_live("katana:cache:users:7"))).value();
  ASSERT_TRUE(left);
  EXPECT_LE(*left, seconds(60));
  ASSERT_TRUE(run(level.put("users:7", "short", nanoseconds(1))));
  EXPECT_TRUE(
      redis::turn_until(reactor(), [&] { return !run(level.get("users:7")).value().has_value(); }));
  ASSERT_TRUE(run(level.put("users:7", "again", seconds(60))));
  ASSERT_TRUE(run(level.remove("users:7")));
  ASSERT_TRUE(run(level.remove("users:7")));
  EXPECT_EQ(run(level.get("users:7")).value(), std::nullopt);
}

TEST_F(RedisLevelTest, one_of_all_instances_has_the_lease_of_a_key) {
  const auto first = run(level.try_lock("k", seconds(30))).value();
  ASSERT_TRUE(first);
  RedisLevel elsewhere(client_of(server));
  EXPECT_EQ(run(elsewhere.try_lock("k", seconds(30))).value(), std::nullopt);
  ASSERT_TRUE(run(elsewhere.unlock("k", Lease{.token = first->token + 1})));
  EXPECT_EQ(run(elsewhere.try_lock("k", seconds(30))).value(), std::nullopt)
      << "somebody else's lease unlocks nothing";
  ASSERT_TRUE(run(level.unlock("k", *first)));
  const auto second = run(elsewhere.try_lock("k", seconds(30))).value();
  ASSERT_TRUE(second);
  EXPECT_GT(second->token, first->token);
}

TEST_F(RedisLevelTest, an_outage_is_an_error_and_bad_health_and_both_end_with_it) {
  EXPECT_TRUE(run(level.put("k", "v", seconds(60))));
  EXPECT_TRUE(level.health());
  server.kill();
  EXPECT_FALSE(run(level.get("k")));
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return !level.health().has_value(); }));
  server.start();
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return run(level.get("k")).has_value(); }));
  EXPECT_TRUE(level.health());
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
