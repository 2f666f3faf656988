// Tests of a primary and a standby that follows it: the server that answers, the lag, and the cost
// of a fail-over.
#include "katana/stores/database/postgres/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

TEST(PostgresPositions, a_replica_has_what_the_primary_had_at_a_position_that_it_replayed) {
  Topology topology;
  const auto at = [](std::int64_t ms) { return Instant{} + milliseconds(1'000'000 + ms); };
  EXPECT_FALSE(topology.is_close(at(0), seconds(3600))) << "nothing is known";
  topology.note_primary(100, at(0));
  topology.note_replica(99);
  EXPECT_FALSE(topology.is_close(at(0), seconds(3600)));
  topology.note_replica(100);
  EXPECT_TRUE(topology.is_close(at(500), milliseconds(500)));
  EXPECT_FALSE(topology.is_close(at(501), milliseconds(500)));
  topology.note_primary(200, at(600));
  topology.note_primary(200, at(1100));
  EXPECT_FALSE(topology.is_close(at(1100), milliseconds(500)));
  topology.note_replica(200);
  EXPECT_TRUE(topology.is_close(at(1600), milliseconds(500))) << "the latest of equal positions";
}

TEST(PostgresPositions, of_another_primary_nothing_is_known) {
  Topology topology;
  topology.note_primary(100, Instant{} + seconds(1));
  topology.note_replica(100);
  topology.forget_primary();
  EXPECT_FALSE(topology.is_close(Instant{} + seconds(1), seconds(1)));
  topology.note_replica(100);
  EXPECT_FALSE(topology.is_close(Instant{} + seconds(1), seconds(1)));
}

TEST(PostgresPositions, another_replica_is_not_the_one_that_was_measured) {
  Topology topology;
  EXPECT_FALSE(topology.is_measured("a"));
  EXPECT_TRUE(topology.measure("a"));
  EXPECT_FALSE(topology.measure("a"));
  EXPECT_TRUE(topology.is_measured("a"));
  topology.note_primary(1, Instant{} + seconds(1));
  topology.note_replica(1);
  EXPECT_TRUE(topology.is_close(Instant{} + seconds(1), seconds(1)));
  EXPECT_FALSE(topology.is_measured("b"));
  EXPECT_TRUE(topology.measure("b"));
  EXPECT_FALSE(topology.is_close(Instant{} + seconds(1), seconds(1)));
}

class PostgresTopology : public testing::Test {
 protected:
  // Writes are acknowledged when the standby has them, too.
  PostgresTopology() {
    (void)primary_.ask("ALTER SYSTEM SET synchronous_standby_names = '*'");
    (void)primary_.ask("SELECT pg_reload_conf()");
  }
  void open(Duration lag_max) {
    Options options = primary_.options();
    until([&] {
      return standby_.ask("SELECT count(*) FROM pg_database WHERE datname = '" + options.database +
                          "'") == "1";
    });
    options.hosts.push_back({standby_.folder(), standby_.port()});
    options.replica_lag_max = lag_max;
    options.wait_max = seconds(20);
    name_ = options.database;
    auto opened = postgres::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().describe();
    database_.emplace(*std::move(opened));
  }
  Database& db() { return *database_; }
  template <class Condition>
  static void until(Condition condition) {
    const Instant last = monotonic_now() + seconds(60);
    while (!condition()) {
      ASSERT_LT(monotonic_now(), last);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  // The server that answers a read of that kind.
  Task<std::string> answered_by(bool replica) {
    const Queries from = replica ? db().replica() : db();
    const auto standby = co_await from.query_one<bool>("SELECT pg_is_in_recovery()");
    if (!standby) co_return kind_of(standby);
    co_return std::string(**standby ? "standby" : "primary");
  }
  std::string who(bool replica) { return loop_.run(answered_by(replica)); }
  Task<std::string> do_write(std::int64_t id) {
    co_return kind_of(co_await db().execute("INSERT INTO rows VALUES ($1)", id));
  }

  // The number of the ids that the standby has.
  std::size_t there_of(const std::set<std::int64_t>& ids) const {
    const std::string list = fmt::format("'{{{}}}'::bigint[]", fmt::join(ids, ","));
    return std::stoul(
        standby_.ask("SELECT count(DISTINCT id) FROM rows WHERE id = ANY (" + list + ")", name_));
  }

  Cluster primary_;
  Cluster standby_{&primary_};
  thread::Loop loop_;
  std::string name_;
  std::optional<Database> database_;
};

TEST_F(PostgresTopology, reads_by_choice_go_to_a_replica_that_is_close_and_else_to_the_primary) {
  open(milliseconds(1500));
  until([&] { return who(true) == "standby"; });
  EXPECT_EQ(who(false), "primary");
  EXPECT_GE(db().statistics().reads_replica, 1u);
  // The standby goes on receiving, but shows no new rows.
  (void)standby_.ask("SELECT pg_wal_replay_pause()");
  (void)primary_.ask("CREATE TABLE rows (id BIGINT)", name_);
  const std::uint64_t before = db().statistics().replica_fallbacks;
  until([&] { return who(true) == "primary"; });
  EXPECT_GT(db().statistics().replica_fallbacks, before);
  EXPECT_TRUE(db().health());
  (void)standby_.ask("SELECT pg_wal_replay_resume()");
  until([&] { return who(true) == "standby"; });
  standby_.stop(true);
  until([&] { return who(true) == "primary"; });
  EXPECT_TRUE(db().health()) << "a replica that is gone is no outage";
}

TEST_F(PostgresTopology, a_fail_over_loses_and_doubles_no_write) {
  open(seconds(2));
  ASSERT_EQ(loop_.run([&]() -> Task<std::string> {
    co_return kind_of(co_await db().execute("CREATE TABLE rows (id BIGINT NOT NULL)"));
  }()),
            "done");
  std::set<std::int64_t> acknowledged;
  std::set<std::int64_t> refused;
  std::atomic<std::int64_t> promoted_ns = 0;
  std::atomic<std::size_t> written = 0;
  Instant found = never;
  std::thread operator_of([&] {
    while (written < 30) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    primary_.stop(true);
    (void)standby_.ask("ALTER SYSTEM SET synchronous_standby_names = ''");
    (void)standby_.ask("SELECT pg_reload_conf()");
    (void)standby_.ask("SELECT pg_promote()");
    promoted_ns = monotonic_now().ns;
  });
  const auto body = [&]() -> Task<void> {
    for (std::int64_t id = 1; found == never || written < 60; ++id) {
      const bool before = promoted_ns == 0;
      const std::string kind = co_await do_write(id);
      if (kind == "done") acknowledged.insert(id);
      written = acknowledged.size();
      if (kind == "unavailable") refused.insert(id);
      if (kind == "done" && !before && found == never) found = monotonic_now();
    }
  };
  loop_.run(body());
  operator_of.join();
  std::printf("writes again %lld ms after the promotion\n",
              static_cast<long long>((found - Instant{promoted_ns}).count_ms()));
  EXPECT_EQ(there_of(acknowledged), acknowledged.size()) << "acknowledged, and lost";
  EXPECT_EQ(there_of(refused), 0u) << "refused, and done";
  EXPECT_EQ(standby_.ask("SELECT count(*) - count(DISTINCT id) FROM rows", name_), "0");
  EXPECT_EQ(who(false), "primary");
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
