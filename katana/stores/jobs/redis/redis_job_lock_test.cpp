// RedisJobLock against a real server, by instances that are runners of one reactor.
#include "katana/stores/jobs/redis/redis_job_lock.hpp"

#include "katana/stores/jobs/job_runner.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::jobs {
namespace {

using std::chrono::microseconds;

JobClaim claim_of(std::int64_t tick) {
  return {.job = "purge", .tick = Timestamp(microseconds(tick)), .now = {}, .until = {}};
}

class RedisJobLockTest : public redis::RedisTest {
 protected:
  bool acquire(JobLock& lock, std::int64_t tick) {
    const auto held = run(lock.try_acquire(claim_of(tick)));
    EXPECT_TRUE(held) << held.error().describe();
    return held && *held;
  }
  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisJobLock here{client, seconds(30)};
  RedisJobLock there{client_of(server), seconds(30)};
};

TEST_F(RedisJobLockTest, a_tick_is_of_one_instance_and_no_earlier_one_comes_behind_it) {
  EXPECT_TRUE(acquire(here, 100));
  EXPECT_FALSE(acquire(there, 100));
  EXPECT_FALSE(acquire(there, 200)) << "it is held";
  EXPECT_EQ(run(here.renew(claim_of(100))), true);
  EXPECT_EQ(run(there.renew(claim_of(200))), false);
  ASSERT_TRUE(run(here.release(claim_of(100), Timestamp())));
  EXPECT_FALSE(acquire(there, 100)) << "it was run";
  EXPECT_FALSE(acquire(there, 99));
  EXPECT_TRUE(acquire(there, 200));
  ASSERT_TRUE(run(here.release(claim_of(100), Timestamp()))) << "which gives nothing back";
  EXPECT_FALSE(acquire(here, 300));
}

TEST_F(RedisJobLockTest, a_claim_may_keep_others_away_for_a_while_behind_its_end) {
  EXPECT_TRUE(acquire(here, 100));
  const Timestamp until = current_time() + std::chrono::milliseconds(150);
  ASSERT_TRUE(run(here.release(claim_of(100), until)));
  const bool came = acquire(there, 200);
  EXPECT_TRUE(!came || current_time() >= until);
  if (came) return;  // the machine stood still
  EXPECT_TRUE(redis::turn_until(reactor(), [&] { return acquire(there, 200); }));
}

TEST_F(RedisJobLockTest, an_instance_that_died_is_waited_for_one_lease) {
  RedisJobLock dead(client, seconds(1));
  reactor().turn(Duration{});
  const Instant began = reactor().now();
  EXPECT_TRUE(acquire(dead, 100));
  EXPECT_TRUE(redis::turn_until(reactor(), [&] { return acquire(there, 200); }));
  reactor().turn(Duration{});
  EXPECT_GE(reactor().now() - began, milliseconds(990));
  EXPECT_EQ(run(dead.renew(claim_of(100))), false) << "it is somebody else's";
}

TEST_F(RedisJobLockTest, an_outage_is_an_error) {
  server.kill();
  EXPECT_FALSE(run(here.try_acquire(claim_of(100))));
  EXPECT_FALSE(run(here.renew(claim_of(100))));
  EXPECT_FALSE(run(here.release(claim_of(100), Timestamp())));
}

TEST_F(RedisJobLockTest, a_job_longer_than_a_lease_keeps_it_and_one_that_lost_it_is_cancelled) {
  struct Told final : FailureObserver {
    void on_failure(const Failure& failure) noexcept override {
      lines.push_back(describe(failure));
    }
    std::vector<std::string> lines;
  } told;
  RedisJobLock lock(client, seconds(3));
  std::uint64_t fence = 0;
  bool may_end = false;
  Job job{.name = "purge",
          .schedule = every(seconds(60)),
          .run = job_function([&](JobRun run) -> Task<void> {
            fence = run.fence;
            while (!may_end) co_await net::sleep_for(milliseconds(5));
          }),
          .options = {.run_at_start = true, .one_instance = true}};
  JobStatus status;
  JobRunner runner(reactor(), job, status, {.lock = &lock, .failures = &told});
  runner.start();
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return fence != 0; }));
  const Instant end = reactor().now() + milliseconds(3500);
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return reactor().now() > end; }));
  EXPECT_EQ(run(wait(client.get("katana:job:purge:held"))).value(), std::to_string(fence));
  EXPECT_FALSE(acquire(there, static_cast<std::int64_t>(fence) + 1)) << "it is still held";
  // Acts as if the instance had been stopped for longer than its lease, and another one had come.
  run(wait(client.set("katana:job:purge:held", "1")));
  ASSERT_TRUE(redis::turn_until(reactor(), [&] { return status.statistics().runs == 1; }));
  EXPECT_THAT(told.lines, testing::ElementsAre(testing::HasSubstr("the lease of its lock")));
  EXPECT_EQ(status.statistics().failures, 1u);
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
