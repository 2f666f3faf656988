#include "katana/stores/redis/shared_rate.hpp"

#include <deque>

#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

class SharedRateTest : public RedisTest {
 protected:
  // Buckets refill in a thousand seconds: only the burst passes.
  static SharedRateOptions slow(std::uint32_t lease) {
    SharedRateOptions options;
    options.per_second = 0.02;
    options.burst = 20;
    options.lease = lease;
    options.lease_time = seconds(30);
    options.timeout = seconds(60);  // of a busy machine
    return options;
  }
  int count_passing(SharedRate& rate, const std::string& key, int requests) {
    int passing = 0;
    for (int each = 0; each < requests; ++each) passing += run(rate.take(key)).passes ? 1 : 0;
    return passing;
  }
  RedisServer server;
  Client redis = client_of(server);
};

TEST_F(SharedRateTest, instances_share_a_burst_and_most_requests_ask_nobody) {
  SharedRate one(redis, slow(5)), other(client_of(server), slow(5));
  EXPECT_EQ(count_passing(one, "ada", 7), 7);
  EXPECT_LE(redis.totals().commands, 4u) << "two leases, the first of which sent its script twice";
  const int passing = 7 + count_passing(other, "ada", 40) + count_passing(one, "ada", 40);
  EXPECT_EQ(passing, 20);
  const RateVerdict refused = run(one.take("ada"));
  EXPECT_FALSE(refused.passes);
  EXPECT_TRUE(refused.is_known);
  EXPECT_GT(refused.wait, seconds(1));
  EXPECT_LE(refused.wait, seconds(50));
  EXPECT_TRUE(run(one.take("grace")).passes) << "another key has its own";
}

TEST_F(SharedRateTest, a_bucket_refills_by_the_clock_of_the_server) {
  SharedRateOptions options = slow(1);
  options.per_second = 100;
  SharedRate rate(redis, options);
  EXPECT_GE(count_passing(rate, "k", 20), 20);
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(rate.take("k")).passes; }));
}

TEST_F(SharedRateTest, more_than_leases_allow_is_never_admitted_by_instances_together) {
  std::deque<SharedRate> instances;
  for (int each = 0; each < 4; ++each) instances.emplace_back(redis, slow(5));
  int passing = 0;
  for (int round = 0; round < 200; ++round) {
    passing += run(instances[static_cast<std::size_t>(round) % 4].take("k")).passes ? 1 : 0;
  }
  EXPECT_EQ(passing, 20) << "what is leased was taken out of the bucket";
}

TEST_F(SharedRateTest, a_lease_that_the_bucket_gives_in_part_admits_only_that_part) {
  SharedRate rate(redis, slow(8));  // 8, 8 and 4 of 20
  EXPECT_EQ(count_passing(rate, "k", 40), 20);
}

TEST_F(SharedRateTest, a_long_key_is_its_digest_in_redis_and_a_short_one_is_itself) {
  SharedRateOptions options = slow(1);
  options.prefix = "rate:";
  SharedRate rate(redis, options);
  const std::string longest(100, 'k'), longer(101, 'k');
  EXPECT_TRUE(run(rate.take(longest)).passes);
  EXPECT_TRUE(run(rate.take(longer)).passes);
  EXPECT_EQ(run(wait(redis.exists("rate:" + longest))), true);
  EXPECT_EQ(run(wait(redis.exists("rate:" + longer))), false);
  // printf k%.0s {1..101} | sha1sum
  EXPECT_EQ(run(wait(redis.exists("rate:sha1:8d9ec1e3987cdb43e4cf2e937e5f81e988dba163"))), true);
}

TEST_F(SharedRateTest, in_an_outage_requests_pass_or_not_as_the_program_says) {
  SharedRateOptions open = slow(1);
  open.timeout = milliseconds(100);
  SharedRateOptions closed = open;
  closed.when_down = WhenDown::refuse;
  SharedRate open_rate(redis, open), closed_rate(redis, closed);
  server.kill();
  const RateVerdict passes = run(open_rate.take("k"));
  EXPECT_TRUE(passes.passes);
  EXPECT_FALSE(passes.is_known);
  const RateVerdict refused = run(closed_rate.take("k"));
  EXPECT_FALSE(refused.passes);
  EXPECT_FALSE(refused.is_known);
}

TEST_F(SharedRateTest, a_full_table_forgets_leases_and_admits_no_more_for_it) {
  SharedRateOptions options = slow(5);
  options.keys_max = 2;
  SharedRate rate(redis, options);
  int passing = 0;
  for (int round = 0; round < 40; ++round) {
    for (const char* const key : {"a", "b", "c"}) passing += run(rate.take(key)).passes ? 1 : 0;
  }
  EXPECT_LE(passing, 60);
  EXPECT_GE(passing, 12) << "four leases of each at least";
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
