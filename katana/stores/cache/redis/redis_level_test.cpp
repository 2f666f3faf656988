#include "katana/stores/cache/redis/redis_level.hpp"

#include <algorithm>

#include "katana/stores/cache/cache.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

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

struct Told final : ChangeListener {
  void on_changed(Bytes key) noexcept override { keys.emplace_back(key); }
  void on_tag_removed(Bytes tag) noexcept override { tags.emplace_back(tag); }
  void on_all_changed() noexcept override { ++all; }
  std::vector<std::string> keys, tags;
  int all = 0;
};

// Tests of the changes that `level` reports to a cache "users".
class RedisChangesTest : public RedisLevelTest {
 protected:
  RedisChangesTest() {
    EXPECT_TRUE(level.listen("users:", told));
    EXPECT_FALSE(level.hears());
    EXPECT_TRUE(run(level.get("users:0")));  // the first call connects
    EXPECT_TRUE(redis::turn_until(reactor(), [&] { return level.hears(); }));
    EXPECT_EQ(told->all, 1);
  }
  // Waits until all earlier changes have been told.
  void await_all() {
    ASSERT_TRUE(run(elsewhere.put("users:end", "x", seconds(60))));
    ASSERT_TRUE(redis::turn_until(
        reactor(), [&] { return std::ranges::find(told->keys, "users:end") != told->keys.end(); }));
    std::erase(told->keys, "users:end");
  }

  std::shared_ptr<Told> told = std::make_shared<Told>();
  RedisLevel elsewhere{client_of(server)};
};

TEST_F(RedisChangesTest, what_another_instance_writes_or_removes_is_told) {
  ASSERT_TRUE(run(elsewhere.put("users:7", "new", seconds(60))));
  ASSERT_TRUE(run(elsewhere.remove("users:7")));
  ASSERT_TRUE(run(elsewhere.put("orders:7", "of another cache", seconds(60))));
  await_all();
  EXPECT_THAT(told->keys, testing::ElementsAre("users:7", "users:7"));
}

TEST_F(RedisChangesTest, own_writes_are_told_only_when_somebody_has_written_since) {
  ASSERT_TRUE(run(level.put("users:1", "own", seconds(60))));
  await_all();
  EXPECT_THAT(told->keys, testing::IsEmpty());
  ASSERT_TRUE(run(level.put("users:1", "own again", seconds(60))));
  ASSERT_TRUE(run(elsewhere.put("users:1", "other", seconds(60))));
  await_all();
  EXPECT_THAT(told->keys, testing::Contains("users:1"));
  EXPECT_EQ(run(level.get("users:1")).value(), "other");
}

TEST_F(RedisChangesTest, a_key_that_an_operator_deletes_is_told) {
  ASSERT_TRUE(run(level.put("users:1", "own", seconds(60))));
  await_all();
  run(wait(client.remove("katana:cache:users:1")));
  await_all();
  EXPECT_THAT(told->keys, testing::ElementsAre("users:1"));
}

TEST_F(RedisChangesTest, behind_an_outage_everything_may_have_changed) {
  server.kill();
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return !level.hears(); }));
  EXPECT_EQ(told->all, 1);
  server.start();
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return level.hears(); }));
  EXPECT_EQ(told->all, 2);
}

TEST_F(RedisLevelTest, a_tag_removes_all_that_has_it_and_what_was_begun_before) {
  const auto before = run(level.tag_mark("users:"));
  ASSERT_TRUE(before);
  const auto put = [&](const std::string& key, std::vector<std::string> tags, std::uint64_t mark) {
    return run(level.put_tagged("users:" + key, key, seconds(60), "users:", std::move(tags), mark));
  };
  for (int each = 0; each < 1200; ++each) {
    ASSERT_EQ(put(std::to_string(each), {"all", each % 2 == 0 ? "even" : "odd"}, *before), true);
  }
  EXPECT_EQ(run(level.get("users:7")).value(), "7");
  ASSERT_TRUE(run(level.remove_tag("users:", "odd")));
  EXPECT_EQ(run(level.get("users:7")).value(), std::nullopt);
  EXPECT_EQ(run(level.get("users:8")).value(), "8");
  EXPECT_EQ(put("7", {"odd"}, *before), false) << "it began before";
  EXPECT_EQ(put("8", {"even"}, *before), true) << "another tag";
  EXPECT_EQ(put("7", {"odd"}, *run(level.tag_mark("users:"))), true);
  ASSERT_TRUE(run(level.remove_tag("orders:", "all"))) << "of another cache";
  EXPECT_EQ(run(level.get("users:8")).value(), "8");
  ASSERT_TRUE(run(level.remove_tag("users:", "all")));
  ASSERT_TRUE(run(level.remove_tag("users:", "odd")));
  const auto left = run(wait(client.command("KEYS", "katana:cache:users:*")));
  EXPECT_EQ(left->elements().size(), 0u);
  const auto lasts = run(wait(client.time_to_live("katana:cache-tag:users:even"))).value();
  ASSERT_TRUE(lasts) << "the list of keys ends with them";
  EXPECT_LE(*lasts, seconds(60));
}

TEST_F(RedisChangesTest, a_tag_that_another_instance_removed_is_told) {
  ASSERT_TRUE(run(elsewhere.remove_tag("users:", "red:or:blue")));
  ASSERT_TRUE(run(elsewhere.remove_tag("orders:", "green")));
  await_all();
  EXPECT_THAT(told->tags, testing::ElementsAre("red:or:blue"));
}

TEST_F(RedisChangesTest, a_cache_of_another_instance_forgets_what_is_changed_here) {
  const Options options{.name = "names", .ttl = seconds(300)};
  const auto first = std::make_shared<RedisLevel>(client_of(server));
  const auto second = std::make_shared<RedisLevel>(client_of(server));
  auto here = *Cache<std::string, std::string>::make(options, first);
  auto there = *Cache<std::string, std::string>::make(options, second);
  for (const auto& each : {first, second}) ASSERT_TRUE(run(each->get("names:0")));
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return first->hears() && second->hears(); }));
  std::string name = "ada";
  int loads = 0;
  auto load = [&](std::string) -> Task<std::string> {
    ++loads;
    co_return name;
  };
  const auto ask = [&](auto& cache) {
    auto got = run([](auto& of, auto& loader) -> Task<Result<Cached<std::string>>> {
      co_return co_await of.get_or_load("7", loader);
    }(cache, load));
    return got && *got ? **got : std::string();
  };
  EXPECT_EQ(ask(here), "ada");
  const auto is_there = [&] { return run(wait(client.exists("katana:cache:names:7"))) == true; };
  ASSERT_TRUE(redis::turn_until(reactor(), is_there));
  EXPECT_EQ(ask(there), "ada");
  EXPECT_EQ(loads, 1) << "the other instance has it from Redis";
  name = "grace";
  here.remove("7");
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return !there.get("7"); }));
  EXPECT_EQ(ask(there), "grace");
  ASSERT_TRUE(redis::turn_until(reactor(), is_there));
  EXPECT_EQ(ask(here), "grace");
  EXPECT_EQ(loads, 2);
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
