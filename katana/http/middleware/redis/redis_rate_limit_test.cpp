// Two instances of a limit, and one Redis.
#include "katana/http/middleware/redis/redis_rate_limit.hpp"

#include <algorithm>

#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana {
namespace {

class RedisRateLimitTest : public redis::RedisTest {
 protected:
  // Takes a request as the middleware does.
  SharedLimit::Verdict take(SharedLimit& limit, const std::string& key) {
    if (const auto known = limit.look(key, reactor().now())) return *known;
    return run(limit.ask(key));
  }
  int count_passing(SharedLimit& limit, const std::string& key, int requests) {
    int passing = 0;
    for (int each = 0; each < requests; ++each) passing += take(limit, key).passes ? 1 : 0;
    return passing;
  }
  // Options with a timeout for a busy machine: with a tenth of a second, an unknown verdict would
  // pass.
  static redis::SharedRateOptions patient() {
    redis::SharedRateOptions options;
    options.per_second = 0.01;
    options.burst = 20;
    options.timeout = seconds(60);
    return options;
  }
  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisRateLimit here{client, patient()};
  RedisRateLimit there{client_of(server), patient()};
};

TEST_F(RedisRateLimitTest, instances_share_a_burst) {
  EXPECT_EQ(count_passing(here, "ada", 12), 12);
  EXPECT_EQ(12 + count_passing(there, "ada", 100) + count_passing(here, "ada", 100), 20);
  const auto refused = take(there, "ada");
  EXPECT_TRUE(refused.is_known);
  EXPECT_GT(refused.wait, seconds(1));
}

TEST_F(RedisRateLimitTest, a_flood_of_one_client_is_no_flood_of_commands) {
  count_passing(here, "ada", 100);
  const std::uint64_t before = client.totals().commands;
  EXPECT_EQ(count_passing(here, "ada", 1000), 0);
  EXPECT_LE(client.totals().commands - before, 3u);
  EXPECT_TRUE(take(here, "grace").passes);
}

TEST_F(RedisRateLimitTest, requests_at_one_time_get_all_of_a_burst_and_no_more) {
  std::vector<Task<SharedLimit::Verdict>> tasks;
  run(wait(client.ping()));
  int passing = 0;
  for (int each = 0; each < 30; ++each) {
    if (const auto known = here.look("ada", reactor().now())) {
      passing += known->passes ? 1 : 0;
    } else {
      tasks.push_back(here.ask("ada"));
      tasks.back().start();
    }
  }
  ASSERT_TRUE(redis::turn_until(reactor(), [&] {
    return std::ranges::all_of(tasks, [](const auto& task) { return task.done(); });
  }));
  for (auto& task : tasks) passing += task.result().passes ? 1 : 0;
  EXPECT_EQ(passing, 20);
}

TEST_F(RedisRateLimitTest, a_rate_that_changes_holds_for_what_is_asked_from_then_on) {
  EXPECT_EQ(count_passing(here, "ada", 30), 20);
  here.set_rate(1000, 20);
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return take(here, "ada").passes; }));
}

TEST_F(RedisRateLimitTest, an_outage_is_asked_of_by_one_request_at_a_time_and_ends_by_itself) {
  RedisRateLimit here{client, 0.01, 20};
  server.kill();
  EXPECT_FALSE(take(here, "ada").is_known);
  int known_at_once = 0;
  for (int each = 0; each < 1000; ++each) {
    known_at_once += here.look("ada", reactor().now()).has_value() ? 1 : 0;
  }
  EXPECT_GE(known_at_once, 999) << "nobody waits for a server that is down";
  server.start();
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return take(here, "ada").is_known; }));
}

TEST_F(RedisRateLimitTest, a_key_of_any_length_is_a_short_one_there) {
  const std::string key(100'000, 'k');
  EXPECT_EQ(count_passing(here, key, 30), 20);
  const auto keys = run(wait(client.command("KEYS", "*")));
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->elements().size(), 1u);
  EXPECT_LT(keys->elements()[0].text().size(), 100u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
