#include "katana/stores/redis/lock.hpp"

#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

class LockTest : public RedisTest {
 protected:
  std::optional<HeldLock> acquire(const std::string& name, Duration lease = seconds(30)) {
    auto held = run(locks.try_acquire(name, lease));
    EXPECT_TRUE(held) << held.error().describe();
    return held ? *held : std::nullopt;
  }
  RedisServer server;
  LockTable locks{client_of(server)};
};

TEST_F(LockTest, one_holds_a_name_until_it_is_released_and_tokens_grow) {
  const auto first = acquire("a");
  ASSERT_TRUE(first);
  EXPECT_FALSE(acquire("a"));
  EXPECT_TRUE(acquire("b")) << "another name is another lock";
  EXPECT_EQ(run(locks.release(*first)), true);
  EXPECT_EQ(run(locks.release(*first)), false);
  const auto second = acquire("a");
  ASSERT_TRUE(second);
  EXPECT_GT(second->token, first->token);
  EXPECT_EQ(run(locks.release(*first)), false) << "the one before has nothing to give back";
  EXPECT_FALSE(acquire("a"));
}

TEST_F(LockTest, a_lease_that_is_over_is_told_and_whoever_comes_next_has_a_greater_token) {
  const auto first = acquire("a");
  ASSERT_TRUE(first);
  EXPECT_EQ(run(locks.renew(*first, milliseconds(50))), true);
  std::optional<HeldLock> second;
  ASSERT_TRUE(turn_until(reactor(), [&] { return (second = acquire("a")).has_value(); }));
  EXPECT_GT(second->token, first->token);
  EXPECT_EQ(run(locks.renew(*first, seconds(30))), false);
  EXPECT_EQ(run(locks.renew(*second, seconds(30))), true);
}

TEST_F(LockTest, tokens_grow_across_a_restart_that_loses_everything) {
  const auto first = acquire("a");
  ASSERT_TRUE(first);
  server.kill();
  server.start();
  std::optional<HeldLock> second;
  ASSERT_TRUE(turn_until(reactor(), [&] {
    auto held = run(locks.try_acquire("a", seconds(30)));
    if (held) second = *held;
    return second.has_value();
  }));
  EXPECT_GT(second->token, first->token);
  EXPECT_EQ(run(locks.renew(*first, seconds(30))), false);
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
