// DatabaseJobLock on SQLite: two instances are two locks that share a database.
#include "katana/stores/jobs/database/database_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/base/thread/loop.hpp"
#include "katana/testing/database/temporary_database.hpp"

namespace katana::jobs {
namespace {

using std::chrono::microseconds;

Timestamp at(std::int64_t us) { return Timestamp(microseconds(us)); }

class DatabaseLockTest : public ::testing::Test {
 protected:
  static JobClaim claim(std::int64_t tick, std::int64_t now, std::string job = "purge") {
    return {.job = std::move(job), .tick = at(tick), .now = at(now), .until = at(now + 100)};
  }
  bool acquire(JobLock& lock, const JobClaim& wanted) {
    const auto held = loop_.run(lock.try_acquire(wanted));
    EXPECT_TRUE(held) << held.error().describe();
    return held && *held;
  }
  void release(JobLock& lock, const JobClaim& held, std::int64_t free_at) {
    EXPECT_TRUE(loop_.run(lock.release(held, at(free_at))));
  }

  testing::TemporaryDatabase database_;
  DatabaseJobLock here{database_.database()}, there{database_.database()};
  thread::Loop loop_;
};

TEST_F(DatabaseLockTest, a_tick_is_of_one_instance_and_no_earlier_one_comes_behind_it) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  EXPECT_FALSE(acquire(there, claim(1000, 1001)));
  release(here, claim(1000, 1000), 1002);
  EXPECT_FALSE(acquire(there, claim(1000, 1003))) << "it was run";
  EXPECT_FALSE(acquire(there, claim(999, 1003)));
  EXPECT_TRUE(acquire(there, claim(1001, 1003)));
}

TEST_F(DatabaseLockTest, a_later_tick_waits_until_the_claim_is_given_back) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  EXPECT_FALSE(acquire(there, claim(2000, 1001)));
  release(here, claim(1000, 1000), 1050);
  EXPECT_FALSE(acquire(there, claim(2000, 1049))) << "the claim keeps others away for a while";
  EXPECT_TRUE(acquire(there, claim(2000, 1050)));
}

TEST_F(DatabaseLockTest, a_claim_of_an_instance_that_died_ends_at_its_time) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  EXPECT_FALSE(acquire(there, claim(2000, 1099)));
  EXPECT_TRUE(acquire(there, claim(2000, 1100)));
}

TEST_F(DatabaseLockTest, an_instance_that_lost_its_claim_gives_back_nothing) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  EXPECT_TRUE(acquire(there, claim(2000, 1100)));
  release(here, claim(1000, 1000), 1101);
  EXPECT_FALSE(acquire(here, claim(3000, 1150)));
}

TEST_F(DatabaseLockTest, each_job_has_its_own_claim) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000, "purge")));
  EXPECT_TRUE(acquire(there, claim(1000, 1000, "mail")));
  release(there, claim(1000, 1000, "mail"), 1001);
  EXPECT_FALSE(acquire(there, claim(2000, 1002, "purge")));
  EXPECT_TRUE(acquire(there, claim(2000, 1002, "mail")));
}

TEST_F(DatabaseLockTest, a_database_that_fails_is_an_error_and_its_table_is_made_when_it_is_back) {
  database_.faults().unavailable();
  const auto first = loop_.run(here.try_acquire(claim(1000, 1000)));
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().describe(), ::testing::HasSubstr("the table katana_job_locks"));
  database_.faults().heal();
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  database_.faults().unavailable();
  EXPECT_FALSE(loop_.run(here.try_acquire(claim(2000, 1100))));
  EXPECT_FALSE(loop_.run(here.release(claim(1000, 1000), at(1001))));
  database_.faults().heal();
  EXPECT_FALSE(acquire(there, claim(2000, 1099))) << "it was not given back";
}

TEST_F(DatabaseLockTest, the_table_is_asked_for_once) {
  EXPECT_TRUE(acquire(here, claim(1000, 1000)));
  database_.faults().fail_next(database::Error(database::Kind::unavailable, "busy"));
  const auto refused = loop_.run(here.try_acquire(claim(2000, 1100)));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), ::testing::Not(::testing::HasSubstr("the table")));
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
