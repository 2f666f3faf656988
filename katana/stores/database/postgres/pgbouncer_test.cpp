#include "katana/stores/database/postgres/pgbouncer_test.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>

#include "katana/stores/database/postgres/migrate.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {

Pgbouncer::Pgbouncer(const Cluster& cluster)
    : folder_(make_folder("pgbouncer")), port_(find_free_port()) {
  const std::string file = folder_ + "/pgbouncer.ini";
  std::ofstream(file) << fmt::format(
      "[databases]\n"
      "* = host={} port={} user=katana\n"
      "[pgbouncer]\n"
      "listen_addr =\nlisten_port = {}\nunix_socket_dir = {}\nauth_type = any\n"
      "pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\n",
      cluster.folder(), cluster.port(), port_, folder_);
  const std::string log = folder_ + "/log";
  process_ = start_program({"/usr/sbin/pgbouncer", file}, log);
  for (int round = 0; round < 1000; ++round) {
    if (answers()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (waitpid(process_, nullptr, WNOHANG) == process_) break;
  }
  std::ifstream written(log);
  throw std::runtime_error(
      "pgbouncer does not answer: " +
      std::string(std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()));
}

Pgbouncer::~Pgbouncer() {
  ::kill(process_, SIGKILL);
  wait_for(process_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Pgbouncer& Pgbouncer::shared() {
  static Pgbouncer pgbouncer(Cluster::shared());
  return pgbouncer;
}

bool Pgbouncer::answers() const {
  const std::string where = fmt::format("host={} port={} dbname=postgres", folder_, port_);
  return PQping(where.c_str()) == PQPING_OK;
}

Options Pgbouncer::through(Options options) const {
  options.hosts = {{folder_, port_}};
  options.prepared_statements = false;
  return options;
}

namespace {

using testing::HasSubstr;

class PostgresPooler : public PostgresTest {
 protected:
  void open_through_pooler() {
    options_ = Pgbouncer::shared().through(cluster_.options());
    options_.wait_max = seconds(20);
    auto opened = postgres::open(options_);
    ASSERT_TRUE(opened);
    database_.emplace(*std::move(opened));
  }
};

TEST_F(PostgresPooler, callers_that_take_turns_on_sessions_keep_their_statements) {
  open_through_pooler();
  run(must("CREATE TABLE counts (id INT PRIMARY KEY, n INT NOT NULL)"));
  run(must("INSERT INTO counts SELECT id, 0 FROM generate_series(1, 8) id"));
  const auto work = [&](int id) -> Task<void> {
    for (int round = 0; round < 20; ++round) {
      const auto added = co_await db().execute("UPDATE counts SET n = n + 1 WHERE id = $1", id);
      EXPECT_TRUE(added) << added.error().describe();
      const auto same = co_await db().query_one<int>("SELECT $1::int", id);
      EXPECT_EQ(same ? same->value_or(0) : -1, id);
      auto transaction = co_await db().begin();
      const auto within =
          co_await transaction->execute("UPDATE counts SET n = n + 1 WHERE id = $1", id);
      EXPECT_TRUE(within) << within.error().describe();
      const auto committed = co_await transaction->commit();
      EXPECT_TRUE(committed) << committed.error().describe();
    }
  };
  std::vector<Task<void>> tasks;
  for (int id = 1; id <= 8; ++id) tasks.push_back(work(id));
  run_all(tasks);
  EXPECT_EQ(ask("SELECT sum(n) FROM counts"), "320");
  EXPECT_EQ(ask("SELECT count(*) <= 2 FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"),
            "t");
}

TEST_F(PostgresPooler, a_session_is_left_as_it_was) {
  open_through_pooler();
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 10; ++round) {
      auto transaction = co_await db().begin();
      EXPECT_TRUE(co_await transaction->execute("SELECT 1"));
      EXPECT_TRUE(co_await transaction->commit());
      const auto timeout =
          co_await db().query_one<std::string>("SELECT current_setting('statement_timeout')");
      EXPECT_TRUE(timeout);
      if (timeout) {
        EXPECT_EQ(timeout->value_or(""), "0");
      }
      const auto kept =
          co_await db().query_one<std::int64_t>("SELECT count(*) FROM pg_prepared_statements");
      if (kept) {
        EXPECT_EQ(kept->value_or(-1), 0);
      }
    }
  };
  run(body());
}

TEST_F(PostgresPooler, columns_that_a_migration_changed_are_read_anew) {
  open_through_pooler();
  run(must("CREATE TABLE a (id INT)"));
  run(must("INSERT INTO a VALUES (7)"));
  const auto body = [&]() -> Task<void> {
    const auto number = co_await db().query_one<std::int64_t>("SELECT id FROM a");
    EXPECT_TRUE(number);
    (void)ask("ALTER TABLE a ALTER id TYPE BIGINT");
    const auto again = co_await db().query_one<std::int64_t>("SELECT id FROM a");
    EXPECT_TRUE(again) << again.error().describe();
    if (again) {
      EXPECT_EQ(again->value_or(0), 7);
    }
  };
  run(body());
}

TEST_F(PostgresPooler, a_statement_is_cancelled_through_it) {
  open_through_pooler();
  const auto endless = [&]() -> Task<void> { (void)co_await db().execute("SELECT pg_sleep(100)"); };
  {
    Task<void> task = endless();
    EXPECT_FALSE(loop_.start(task));
    while (ask("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(100)%' "
               "AND state = 'active'") != "1") {
      loop_.run_messages();
    }
  }
  while (ask("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(100)%' AND "
             "state = 'active'") != "0") {
    loop_.run_messages();
  }
  run(must("SELECT 1"));
}

TEST_F(PostgresPooler, migrations_are_applied_through_it) {
  open_through_pooler();
  const auto report = migrate(
      options_, {.bundled = *bundled_migrations({{"0001_a.sql", "CREATE TABLE migrated ()"}})});
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE tablename = 'migrated'"), "1");
}

// The effect of DISCARD ALL, which a program may not send, on prepared statements.
TEST_F(PostgresPooler, a_session_that_lost_its_statements_prepares_them_again) {
  open([](Options& options) { options.connections_max = 1; });
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 5; ++round) {
      const auto one = co_await db().query_one<int>("SELECT 1");
      EXPECT_TRUE(one) << one.error().describe();
      const auto two = co_await db().query_one<int>("SELECT $1::int + 1", 1);
      EXPECT_TRUE(two) << two.error().describe();
      const auto lost = co_await db().execute("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");
      EXPECT_TRUE(lost) << lost.error().describe();
    }
  };
  run(body());
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
