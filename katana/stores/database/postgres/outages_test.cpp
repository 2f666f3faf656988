// Tests of calls while the server or a connection goes away and comes back. The cluster belongs to
// this test alone.
#include <chrono>
#include <thread>

#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresOutages : public PostgresTest {
 protected:
  // Waits until the database is usable, or is not.
  bool becomes(bool usable) {
    for (int round = 0; round < 1000; ++round) {
      if (db().health().has_value() == usable) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Once the statement runs.
  std::string process_of(const std::string& beginning) {
    for (int round = 0; round < 500; ++round) {
      std::string found =
          ask("SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE state = "
              "'active' AND query LIKE '" +
              beginning + "%'");
      if (found != "0") return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "0";
  }
};

TEST_F(PostgresOutages, a_server_that_cannot_be_reached_makes_calls_fail_and_says_why) {
  Options options;
  options.hosts = {{"127.0.0.1", 1}};
  options.user = "app";
  options.password = "hunter2";
  options.wait_max = milliseconds(100);
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened) << "a program starts without its database";
  database_.emplace(*std::move(opened));
  const auto body = [&]() -> Task<void> {
    const auto failed = co_await db().query_one<int>("SELECT 1");
    EXPECT_EQ(kind_of(failed), "unavailable");
    EXPECT_THAT(failed.error().describe(), HasSubstr("127.0.0.1"));
    EXPECT_THAT(failed.error().describe(), Not(HasSubstr("hunter2")));
    EXPECT_EQ(failed.error().code(), Code::unavailable);
  };
  run(body());
  const auto health = db().health();
  ASSERT_FALSE(health);
  EXPECT_THAT(health.error().describe(), HasSubstr("app@127.0.0.1:1/"));
  EXPECT_THAT(health.error().describe(), Not(HasSubstr("hunter2")));
}

TEST_F(PostgresOutages, a_name_that_does_not_resolve_is_told) {
  Options options;
  options.hosts = {{"no-such-host.invalid"}};
  options.wait_max = milliseconds(300);
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened);
  database_.emplace(*std::move(opened));
  const auto body = [&]() -> Task<void> {
    const auto failed = co_await db().query_one<int>("SELECT 1");
    EXPECT_EQ(kind_of(failed), "unavailable");
  };
  run(body());
  EXPECT_FALSE(db().health());
}

TEST_F(PostgresOutages, a_server_that_is_killed_and_started_again_is_found_again) {
  Cluster cluster;
  Options options = cluster.options();
  options.wait_max = milliseconds(200);
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened);
  database_.emplace(*std::move(opened));
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE kept (id INT)");
    co_await must("INSERT INTO kept VALUES (1)");
    for (int round = 0; round < 3; ++round) {
      auto transaction = co_await db().begin();
      EXPECT_TRUE(co_await transaction->execute("INSERT INTO kept VALUES (2)"));
      cluster.stop(round != 1);
      EXPECT_TRUE(becomes(false));
      EXPECT_EQ(kind_of(co_await db().query_one<int>("SELECT 1")), "unavailable");
      const auto within = co_await transaction->execute("INSERT INTO kept VALUES (3)");
      EXPECT_EQ(kind_of(within), "failed transaction");
      cluster.start();
      EXPECT_TRUE(becomes(true));
      const auto rows = co_await db().query_one<int>("SELECT count(*)::int FROM kept");
      EXPECT_TRUE(rows && **rows == 1)
          << (rows ? "what was not committed is gone" : rows.error().describe());
    }
    EXPECT_GE(db().statistics().outages, 3u);
  };
  run(body());
}

TEST_F(PostgresOutages, calls_fail_at_once_while_the_server_is_known_to_be_down) {
  Cluster cluster;
  Options options = cluster.options();
  options.wait_max = options.timeout = seconds(3600);  // who waits for a connection hangs here
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened);
  database_.emplace(*std::move(opened));
  run(must("SELECT 1"));
  cluster.stop(false);
  const auto call = [&]() -> Task<void> {
    EXPECT_EQ(kind_of(co_await db().query_one<int>("SELECT 1")), "unavailable");
    EXPECT_EQ(kind_of(co_await db().begin()), "unavailable");
  };
  for (int round = 0; round < 3; ++round) run(call());
  EXPECT_TRUE(becomes(false));
  const std::uint64_t before = db().statistics().refused_unusable;
  for (int round = 0; round < 20; ++round) run(call());
  EXPECT_EQ(db().statistics().refused_unusable, before + 40);
  cluster.start();
  EXPECT_TRUE(becomes(true));
  run(must("SELECT 1"));
}

// A fail-over that ends with the server as a standby: reads go on, writes are refused at once.
TEST_F(PostgresOutages, a_server_that_is_back_and_only_reads_answers_both) {
  Cluster cluster;
  Options options = cluster.options();
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened);
  database_.emplace(*std::move(opened));
  run(must("CREATE TABLE kept (id INT)"));
  cluster.stop(true);
  EXPECT_TRUE(becomes(false));
  cluster.start();
  (void)cluster.ask("ALTER SYSTEM SET default_transaction_read_only = on");
  (void)cluster.ask("SELECT pg_reload_conf()");
  EXPECT_TRUE(becomes(true));
  const auto body = [&]() -> Task<void> {
    while (true) {
      const auto written = co_await db().execute("INSERT INTO kept VALUES (1)");
      if (written) continue;  // not reloaded yet
      EXPECT_EQ(kind_of(written), "unavailable");
      EXPECT_THAT(written.error().describe(), HasSubstr("25006"));
      break;
    }
    EXPECT_TRUE(co_await db().query_one<int>("SELECT count(*)::int FROM kept"));
  };
  run(body());
}

TEST_F(PostgresOutages, a_session_that_the_server_ends_did_not_do_its_statement) {
  open();
  run(must("CREATE TABLE a (id INT)"));
  std::string kind;
  const auto write = [&]() -> Task<void> {
    kind = kind_of(co_await db().execute("INSERT INTO a SELECT 1 FROM pg_sleep(20)"));
  };
  Task<void> writing = write();
  EXPECT_FALSE(loop_.start(writing));
  (void)ask("SELECT pg_terminate_backend(" + process_of("INSERT INTO a") + ")");
  while (!writing.done()) loop_.turn();
  EXPECT_EQ(kind, "unavailable") << "the server said that it ended it";
  run(must("SELECT 1"));
}

TEST_F(PostgresOutages, a_write_whose_answer_was_lost_has_an_unknown_outcome) {
  Cluster cluster;
  Options options = cluster.options();
  auto opened = postgres::open(options);
  ASSERT_TRUE(opened);
  database_.emplace(*std::move(opened));
  options_ = options;
  run(must("CREATE TABLE a (id INT)"));
  // A commit that lasts, because of a trigger that fires in it.
  run(must(
      "CREATE FUNCTION lasts() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(20); "
      "RETURN NEW; END'"));
  run(must(
      "CREATE CONSTRAINT TRIGGER lasts AFTER INSERT ON a DEFERRABLE INITIALLY DEFERRED FOR EACH "
      "ROW EXECUTE FUNCTION lasts()"));
  std::vector<std::string> kinds(3);
  const auto commit = [&]() -> Task<void> {
    auto transaction = co_await db().begin();
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES (1)"));
    kinds[0] = kind_of(co_await transaction->commit());
  };
  const auto write = [&]() -> Task<void> {
    kinds[1] = kind_of(co_await db().execute("INSERT INTO a VALUES (2)"));
  };
  const auto read = [&]() -> Task<void> {
    kinds[2] = kind_of(co_await db().execute("SELECT pg_sleep(20)"));
  };
  std::vector<Task<void>> tasks;
  tasks.push_back(commit());
  tasks.push_back(write());
  tasks.push_back(read());
  for (Task<void>& task : tasks) loop_.start(task);
  while (kinds[0].empty() &&
         cluster.ask("SELECT count(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = "
                     "'active'") != "1") {
    loop_.run_messages();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  cluster.stop(true);
  for (const Task<void>& task : tasks) {
    while (!task.done()) loop_.turn();
  }
  EXPECT_THAT(kinds, testing::ElementsAre("unknown outcome", "unknown outcome", "unavailable"));
}

TEST_F(PostgresOutages, migrations_are_applied_once_and_a_failed_one_leaves_nothing) {
  open();
  const auto files = [](std::vector<MigrationFile> list) { return *bundled_migrations(list); };
  const MigrationFile first{"0001_users.sql",
                            "CREATE TABLE users (id INT); INSERT INTO users VALUES (1);"};
  const MigrationFile second{"0002_name.sql", "ALTER TABLE users ADD name TEXT;"};
  const auto dry = migrate(options_, {.bundled = files({first, second}), .dry_run = true});
  ASSERT_TRUE(dry) << dry.error().describe();
  EXPECT_EQ(dry->applied.size(), 2u);
  const MigrationFile broken{"0002_name.sql", "ALTER TABLE users ADD name TEXT; SELECT broken;"};
  const auto failed = migrate(options_, {.bundled = files({first, broken})});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().describe(), HasSubstr("0002_name.sql"));
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
  // Among several programs that start at once, one applies them.
  std::vector<std::size_t> applied(4);
  {
    std::vector<std::jthread> starters;
    for (std::size_t& each : applied) {
      starters.emplace_back([&] {
        const auto report = migrate(options_, {.bundled = files({first, second})});
        each = report ? report->applied.size() : 99;
      });
    }
  }
  EXPECT_THAT(applied, testing::UnorderedElementsAre(2u, 0u, 0u, 0u));
  EXPECT_EQ(ask("SELECT count(*) FROM users"), "1");
  const auto changed =
      migrate(options_, {.bundled = files({first, {"0002_name.sql", "SELECT 1;"}})});
  EXPECT_THAT(changed.error().describe(), HasSubstr("was changed after it was applied"));
  const auto ends =
      migrate(options_,
              {.bundled = files({first, second, {"0003_ends.sql", "CREATE TABLE b (); COMMIT;"}})});
  EXPECT_THAT(ends.error().describe(), HasSubstr("COMMIT would begin or end the transaction"));
  auto opened = postgres::open([&] {
    Options options = options_;
    options.bundled = files({first, broken});
    return options;
  }());
  EXPECT_FALSE(opened) << "a database that could not be migrated is not opened";
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
