// Scripts as tools and people write them, run by PostgreSQL in one transaction.
#include "katana/stores/database/postgres/migrate.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

class MigrateTest : public testing::Test {
 protected:
  katana::Result<MigrationReport> apply(const std::vector<MigrationFile>& files,
                                        MigrateOptions how = {}) {
    how.bundled = *bundled_migrations(files);
    return migrate(options_, how);
  }
  std::string said(const std::vector<MigrationFile>& files, const MigrateOptions& how = {}) {
    const auto report = apply(files, how);
    if (!report) return report.error().describe();
    return std::to_string(report->applied.size()) + " behind " + std::to_string(report->before);
  }
  std::string ask(const std::string& statement) {
    return cluster_.ask(statement, options_.database);
  }

  Cluster& cluster_ = Cluster::shared();
  Options options_ = cluster_.options();
};

TEST_F(MigrateTest, a_script_that_ends_the_transaction_is_refused_before_anything_is_done) {
  const std::string told = said(
      {{"0001_first.sql", "CREATE TABLE a (id int);"},
       {"0002_ends.sql", "CREATE TABLE c (id bigint);\nCOMMIT;\nINSERT INTO c VALUES (1/0);"}});
  EXPECT_THAT(told, HasSubstr("0002_ends.sql, line 2: COMMIT would begin or end the transaction"));
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
}

TEST_F(MigrateTest, what_was_applied_is_told_behind_each_commit) {
  std::vector<std::string> told;
  const Opening opening{.on_migrated = [&](std::span<const Migration> applied) {
    std::string commit = ask("SELECT count(*) FROM katana_migrations") + ":";
    for (const Migration& each : applied) {
      EXPECT_LE(each.began, each.ended);
      EXPECT_GT(each.began, Instant{});
      commit += " " + each.file;
    }
    told.push_back(commit);
  }};
  // The third uses a value that the second adds, which has to be committed before.
  const std::vector<MigrationFile> files = {
      {"0001_told.sql", "CREATE TYPE told AS ENUM ('a');"},
      {"0002_told.sql", "ALTER TYPE told ADD VALUE 'b';"},
      {"0003_told.sql", "CREATE TABLE tells (it told DEFAULT 'b');"}};
  EXPECT_EQ(said(files, {.dry_run = true, .opening = opening}), "3 behind 0");
  EXPECT_THAT(told, testing::IsEmpty());
  EXPECT_EQ(said(files, {.opening = opening}), "3 behind 0");
  EXPECT_THAT(told, testing::ElementsAre("2: 0001_told.sql 0002_told.sql", "3: 0003_told.sql"));
  EXPECT_EQ(said(files, {.opening = opening}), "0 behind 3");
  EXPECT_THAT(told, testing::SizeIs(2));
}

TEST_F(MigrateTest, a_baseline_of_pg_dump_leaves_the_session_as_it_was) {
  const MigrationFile dump{
      "0001_baseline.sql",
      "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET statement_timeout = 0;\nSET "
      "lock_timeout = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\nSET "
      "row_security "
      "= off;\nCREATE TABLE public.base (id bigint);\n\\unrestrict abc\n"};
  EXPECT_EQ(said({dump, {"0002_next.sql", "CREATE TABLE next (id bigint);"}}), "2 behind 0");
  EXPECT_EQ(said({dump,
                  {"0002_next.sql", "CREATE TABLE next (id bigint);"},
                  {"0003_after.sql", "ALTER TABLE next ADD a int;"}}),
            "1 behind 2");
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "3");
}

TEST_F(MigrateTest, a_role_that_a_script_took_is_not_the_next_ones) {
  (void)ask("CREATE ROLE narrow_" + options_.database);
  const std::string set = "SET ROLE narrow_" + options_.database + ";";
  EXPECT_EQ(said({{"0001_role.sql", set}, {"0002_table.sql", "CREATE TABLE a (id int);"}}),
            "2 behind 0");
  (void)ask("DROP ROLE narrow_" + options_.database);
}

TEST_F(MigrateTest, files_that_were_applied_one_by_one_apply_to_a_new_database_as_well) {
  const std::vector<MigrationFile> files = {{"0001_a.sql", "CREATE TYPE k AS ENUM ('a');"},
                                            {"0002_b.sql", "ALTER TYPE k ADD VALUE 'b';"},
                                            {"0003_c.sql", "CREATE TABLE u (x k DEFAULT 'b');"},
                                            {"0004_d.sql", "ALTER TYPE k ADD VALUE 'c';"},
                                            {"0005_e.sql", "INSERT INTO u VALUES ('c');"}};
  EXPECT_EQ(said(files, {.dry_run = true}), "5 behind 0");
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
  const auto report = apply(files);
  ASSERT_TRUE(report) << report.error().describe();
  ASSERT_EQ(report->applied.size(), 5u);
  EXPECT_EQ(report->applied[4].file, "0005_e.sql");
  EXPECT_EQ(report->before, 0u);
  EXPECT_EQ(said(files), "0 behind 5");
  EXPECT_EQ(ask("SELECT count(*) FROM u"), "1");
}

TEST_F(MigrateTest, a_file_that_adds_a_value_and_uses_it_is_an_error_with_its_name) {
  const std::vector<MigrationFile> files = {
      {"0001_a.sql", "CREATE TYPE k AS ENUM ('a');"},
      {"0002_b.sql", "CREATE TABLE t (x k);"},
      {"0003_c.sql", "ALTER TYPE k ADD VALUE 'b';\nINSERT INTO t VALUES ('b');"}};
  EXPECT_THAT(said(files), HasSubstr("0003_c.sql"));
}

TEST_F(MigrateTest, the_table_is_found_where_it_is_though_another_schema_comes_first_by_now) {
  // The user's own schema is before public in search_path.
  const std::vector<MigrationFile> files = {
      {"0001_a.sql", "CREATE TABLE a (id int);"},
      {"0002_schema.sql", "CREATE SCHEMA " + options_.user + ";"}};
  EXPECT_EQ(said(files), "2 behind 0");
  EXPECT_EQ(said(files), "0 behind 2");
}

TEST_F(MigrateTest, an_error_names_the_line_and_leaves_nothing) {
  const std::string told =
      said({{"0001_a.sql", "CREATE TABLE a (id int);\n-- ä\nSELECT nothing;"}});
  EXPECT_THAT(told, HasSubstr("0001_a.sql, line 3"));
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
}

TEST_F(MigrateTest, data_of_copy_is_refused_with_the_remedy) {
  EXPECT_THAT(said({{"0001_a.sql", "CREATE TABLE a (id int);\nCOPY a FROM stdin;\n1\n\\.\n"}}),
              HasSubstr("0001_a.sql, line 2: COPY has rows that only psql reads"));
  EXPECT_EQ(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
}

// ---- attempts that may be repeated

Code code_of(const katana::Result<MigrationReport>& report) {
  return report ? Code::internal : report.error().code();
}

TEST_F(MigrateTest, only_what_may_pass_is_unavailable) {
  const std::vector<MigrationFile> one = {{"0001_a.sql", "CREATE TABLE a (id int);"}};
  Options there = options_;
  options_.hosts = {{"127.0.0.1", 1}};
  EXPECT_EQ(code_of(apply(one)), Code::unavailable) << "no server is there";
  options_ = there;
  options_.database = "no_such_database";
  EXPECT_EQ(code_of(apply(one)), Code::not_found);
  options_ = there;
  options_.user = "no_such_user";
  EXPECT_EQ(code_of(apply(one)), Code::permission_denied);
  options_ = there;
  options_.parameters.emplace_back("options", "-c default_transaction_read_only=on");
  EXPECT_EQ(code_of(apply(one)), Code::unavailable) << "a standby may be promoted";
  options_ = there;
  EXPECT_EQ(code_of(apply({{"0001_a.sql", "SELECT wrong;"}})), Code::internal);
  EXPECT_EQ(said(one), "1 behind 0");
}

TEST_F(MigrateTest, another_program_that_migrates_is_waited_for_and_not_for_ever) {
  auto other = BlockingSession::connect(options_, {});
  ASSERT_TRUE(other);
  ASSERT_TRUE(other->ask("SELECT pg_advisory_lock(118145427595873)"));
  const std::vector<MigrationFile> one = {{"0001_a.sql", "CREATE TABLE a (id int);"}};
  int reached = 0;
  const MigrateOptions how{.lock_wait = milliseconds(50),
                           .opening = {.on_reached = [&] { ++reached; }}};
  EXPECT_EQ(code_of(apply(one, how)), Code::unavailable);
  EXPECT_EQ(reached, 0);
  ASSERT_TRUE(other->ask("SELECT pg_advisory_unlock(118145427595873)"));
  EXPECT_EQ(said(one, how), "1 behind 0");
  EXPECT_EQ(reached, 1);
}

TEST_F(MigrateTest, an_attempt_that_is_stopped_ends_whatever_it_waits_for) {
  // Accepts connections and sends nothing.
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent, 4), 0);
  ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::vector<MigrationFile> slow = {{"0001_a.sql", "SELECT pg_sleep(600);"}};
  for (const bool answers : {false, true}) {
    if (!answers) {
      options_.hosts = {{"127.0.0.1", ntohs(address.sin_port)}};
      options_.connect_timeout = seconds(600);
    } else {
      options_ = cluster_.options();
    }
    std::stop_source stop;
    std::atomic<bool> reached = false;
    std::jthread stopper([&] {
      if (answers) reached.wait(false);
      stop.request_stop();
    });
    const auto report = apply(slow, {.opening = {.stop = stop.get_token(), .on_reached = [&] {
                                                   reached = true;
                                                   reached.notify_all();
                                                 }}});
    EXPECT_EQ(code_of(report), Code::cancelled);
  }
  ::close(silent);
}

TEST(Refusals, are_lasting_by_the_code_of_the_server_alone) {
  EXPECT_TRUE(is_lasting({.state = "28P01"})) << "a wrong password";
  EXPECT_FALSE(is_lasting({.text = "Connection refused"}));
  EXPECT_FALSE(is_lasting({.state = "57P03"})) << "it is starting up";
  EXPECT_FALSE(is_lasting({.state = "53300"})) << "too many connections";
  EXPECT_FALSE(is_lasting({.state = "25006"}));
  EXPECT_FALSE(is_lasting({.state = "40P01"}));
  EXPECT_TRUE(is_lasting({.state = "57014"}));
  EXPECT_TRUE(is_lasting({.state = "3D000"}));
  EXPECT_TRUE(is_lasting({.state = "42601"}));
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
