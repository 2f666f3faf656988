#include "katana/stores/database/postgres/advisory_lock.hpp"

#include <chrono>
#include <thread>

#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

class AdvisoryLockTest : public PostgresTest {
 protected:
  Task<std::string> try_it(LockKey key) {
    auto held = co_await try_lock(db(), key);
    co_return !held ? kind_of(held) : *held ? "had" : "taken";
  }
};

TEST_F(AdvisoryLockTest, is_held_by_one_at_a_time_and_given_back) {
  open();
  const auto body = [&]() -> Task<void> {
    {
      auto held = co_await lock(db(), "report");
      EXPECT_TRUE(held) << held.error().describe();
      EXPECT_EQ(co_await try_it("report"), "taken");
      EXPECT_EQ(co_await try_it("another report"), "had");
      EXPECT_EQ(co_await try_it(7), "had");
      const auto waited = co_await lock(db(), "report", milliseconds(50));
      EXPECT_EQ(kind_of(waited), "timeout");
      const auto still = co_await held->still_held();
      EXPECT_TRUE(still && *still);
      EXPECT_TRUE(co_await held->release());
      // The server may give it to the call that timed out, until it hears that no caller waits for
      // it.
      std::string then = "taken";
      for (int round = 0; round < 1000 && then == "taken"; ++round) {
        then = co_await try_it("report");
        if (then == "taken") std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_EQ(then, "had");
      held = co_await lock(db(), "report");
      EXPECT_TRUE(held);
    }
    const auto again = co_await lock(db(), "report");  // destroyed is given back, too
    EXPECT_TRUE(again);
  };
  run(body());
}

TEST_F(AdvisoryLockTest, of_a_transaction_ends_with_it) {
  open();
  const auto body = [&]() -> Task<void> {
    auto transaction = co_await db().begin();
    EXPECT_TRUE(co_await lock(*transaction, 9));
    EXPECT_EQ(co_await try_it(9), "taken");
    EXPECT_TRUE(co_await transaction->commit());
    EXPECT_EQ(co_await try_it(9), "had");
  };
  run(body());
}

TEST_F(AdvisoryLockTest, whose_session_ended_is_not_held_any_more) {
  open();
  const auto body = [&]() -> Task<void> {
    auto held = co_await lock(db(), 1);
    EXPECT_TRUE(held);
    (void)ask(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
    const auto still = co_await held->still_held();
    EXPECT_TRUE(still && !*still);
    EXPECT_TRUE(co_await lock(db(), 1));
  };
  run(body());
}

// The server's clock stops a statement, also when no cancel request is sent. Otherwise the
// statement could keep the connection of the caller's transaction busy for ever.
TEST_F(PostgresTest, a_deadline_stops_the_statement_at_the_server_too) {
  open([](Options& options) { options.connections_max = 2; });
  const auto body = [&]() -> Task<void> {
    auto transaction = co_await db().begin();
    EXPECT_TRUE(transaction);
    // A minute, of which a busy machine may take some seconds before the statement is sent.
    const auto set =
        co_await transaction->within(seconds(60))
            .query_one<int>(
                "SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'");
    EXPECT_TRUE(set && *set) << "set for this call";
    if (set && *set) {
      EXPECT_GE(**set, 30'000);
      EXPECT_LE(**set, 75'000) << "rounded up by a quarter at most";
    }
    const auto wait = transaction->within(milliseconds(300));
    const auto slept = co_await wait.execute("SELECT pg_sleep(600)");
    EXPECT_EQ(kind_of(slept), "timeout");
  };
  run(body());
  std::string active = "?";
  for (int round = 0; round < 2000 && active != "0"; ++round) {
    active = ask(
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sleep(600)' "
        "AND datname = current_database()");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(active, "0");
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
