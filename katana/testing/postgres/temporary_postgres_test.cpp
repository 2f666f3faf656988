#include "katana/testing/postgres/temporary_postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {

struct Booking {
  std::int64_t desk = 0;
  std::string from;
  std::string until;
};
KATANA_DESCRIBE(Booking, desk, from, until)

struct Letter {
  std::string to;
};
KATANA_DESCRIBE(Letter, to)

namespace {

using ::testing::HasSubstr;
using Program = app::Application<app::SettingsWithDatabase>;

// Two bookings of a desk may not overlap: no unique index can say that.
const std::vector<database::MigrationFile>& migrations() {
  static const std::vector<database::MigrationFile> files = {
      {"0001_desks.sql",
       "CREATE TABLE desks (id BIGINT PRIMARY KEY, booked BIGINT NOT NULL DEFAULT 0);"
       "INSERT INTO desks VALUES (1), (2);"
       "CREATE EXTENSION btree_gist;"
       "CREATE TABLE bookings (desk BIGINT NOT NULL REFERENCES desks, during TSTZRANGE NOT NULL, "
       "EXCLUDE USING gist (desk WITH =, during WITH &&));"}};
  return files;
}

app::ApplicationOptions options() {
  return {.name = "desks", .database = app::postgres(), .migrations = migrations()};
}

Task<Result<Reply>> book(Json<Booking> booking, Inject<database::Database> db) {
  auto made = co_await db->execute(
      "INSERT INTO bookings VALUES ($1, tstzrange($2::timestamptz, $3::timestamptz))",
      booking->desk, booking->from, booking->until);
  if (!made && made.error().kind() == database::Kind::constraint_violation) {
    co_return problem(409, "The desk is taken.");
  }
  if (!made) co_return std::unexpected(made.error());
  co_return Reply::no_content();
}

// Holds the row of a desk for a second.
Task<Result<Reply>> count_slowly(Path<std::int64_t> desk, Inject<database::Database> db) {
  auto count = [&desk](database::Transaction& rows) -> Task<database::Result<std::int64_t>> {
    auto booked = co_await rows.query_one<std::int64_t>(
        "SELECT booked FROM desks WHERE id = $1 FOR UPDATE", *desk);
    if (!booked) co_return std::unexpected(booked.error());
    co_await net::sleep_for(seconds(1));
    const std::int64_t next = **booked + 1;
    auto done = co_await rows.execute("UPDATE desks SET booked = $2 WHERE id = $1", *desk, next);
    if (!done) co_return std::unexpected(done.error());
    co_return next;
  };
  auto counted = co_await database::transact(*db, count);
  if (!counted) co_return std::unexpected(counted.error());
  co_return Reply::text(Text(std::to_string(*counted)));
}

void configure(Program& program) {
  program.routes([](const registry::Services&, Router& router) {
    router.post("/bookings", book).post("/desks/{desk}/count", count_slowly);
    router.post("/letters", [](Inject<queue::JobQueue> queue) -> Task<Result<Reply>> {
      const Letter letter{"ada"};
      auto queued = co_await queue->enqueue("letters", letter);
      if (!queued) co_return std::unexpected(queued.error());
      co_return Reply::no_content();
    });
  });
}

int letters_sent = 0;
Task<Result<void>> send_letter(Letter) {
  ++letters_sent;
  co_return {};
}

TestApplicationOptions with(const TemporaryPostgres& database) {
  return {.settings = {database.setting()},
          .server = {.waits_for_time = database.waits_for_time()}};
}

class TemporaryPostgresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const TemporaryPostgres first;
    if (first.is_missing()) GTEST_SKIP() << first.problem();
  }
};

TEST_F(TemporaryPostgresTest, a_programs_exclusion_constraints_and_casts_are_tested) {
  const TemporaryPostgres database(migrations());
  ASSERT_EQ(database.problem(), "");
  TestApplication app(options(), configure, with(database));
  const auto morning = Booking{1, "2026-01-05 09:00+00", "2026-01-05 12:00+00"};
  EXPECT_EQ(app.post_json("/bookings", morning).status(), 204u);
  EXPECT_EQ(app.post_json("/bookings", morning).status(), 409u);
  const auto noon = Booking{1, "2026-01-05 12:00+00", "2026-01-05 13:00+00"};
  EXPECT_EQ(app.post_json("/bookings", noon).status(), 204u);
}

TEST_F(TemporaryPostgresTest, a_statement_takes_no_virtual_time) {
  const TemporaryPostgres database(migrations());
  TestApplication app(options(), configure, with(database));
  ASSERT_TRUE(app.start());
  const Instant before = app.now();
  for (int hour = 0; hour < 20; ++hour) {
    const auto booking = Booking{2, std::to_string(2000 + hour) + "-01-01 00:00+00",
                                 std::to_string(2000 + hour) + "-01-02 00:00+00"};
    EXPECT_EQ(app.post_json("/bookings", booking).status(), 204u);
  }
  EXPECT_LT(app.now(), before + seconds(1));
}

TEST_F(TemporaryPostgresTest, a_request_that_waits_for_the_lock_of_one_that_sleeps_goes_on) {
  const TemporaryPostgres database(migrations());
  TestApplication app(options(), configure, with(database));
  ASSERT_TRUE(app.start());
  const auto began = std::chrono::steady_clock::now();
  PendingReply first = app.begin("POST", "/desks/1/count");
  PendingReply second = app.begin("POST", "/desks/1/count");
  PendingReply other = app.begin("POST", "/desks/2/count");
  EXPECT_EQ(first.reply().content(), "1");
  EXPECT_EQ(second.reply().content(), "2");
  EXPECT_EQ(other.reply().content(), "1");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(TemporaryPostgresTest, a_program_with_a_queue_answers_and_works_its_jobs) {
  const TemporaryPostgres database(migrations());
  letters_sent = 0;
  TestApplication app(
      options(),
      +[](Program& program) {
        configure(program);
        program.queue<Letter>("letters", send_letter);
      },
      with(database));
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < 3; ++round) {
    const TestReply reply = app.post("/letters", "");
    EXPECT_EQ(reply.status(), 204u) << reply;
  }
  app.advance(seconds(60));
  EXPECT_EQ(letters_sent, 3) << app.log().describe();
  EXPECT_EQ(app.stop().tasks_cancelled, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(55));
}

TEST_F(TemporaryPostgresTest, a_failed_job_of_one_instance_is_tried_again_by_its_lock) {
  const TemporaryPostgres database(migrations());
  static std::vector<jobs::JobRun> runs;
  runs.clear();
  TestApplication app(
      options(),
      +[](Program& program) {
        configure(program);
        program.job("report", jobs::cron("0 3 * * *"),
                    [](jobs::JobRun run) -> Task<Result<void>> {
                      runs.push_back(run);
                      if (run.attempt < 3) co_return fail(Code::unavailable, "no mail server");
                      co_return {};
                    },
                    {.retry = {.retries_max = 5, .delay = seconds(60)}, .one_instance = true});
      },
      with(database));
  ASSERT_TRUE(app.start());
  app.advance(seconds(4 * 3600));
  ASSERT_EQ(runs.size(), 3u) << app.log().describe();
  EXPECT_EQ(runs[0].tick, runs[2].tick);
  EXPECT_LT(runs[0].fence, runs[1].fence);
  EXPECT_LT(runs[1].fence, runs[2].fence);
  EXPECT_EQ(*app.metrics().value("katana_job_retries_total", {{"job", "report"}}), 2);
}

TEST_F(TemporaryPostgresTest, tests_do_not_see_the_rows_of_others) {
  const TemporaryPostgres one(migrations());
  const TemporaryPostgres two(migrations());
  ASSERT_EQ(one.problem() + two.problem(), "");
  EXPECT_NE(one.name(), two.name());
  ASSERT_TRUE(one.run("INSERT INTO desks VALUES (3); INSERT INTO desks VALUES (4)"));
  TestApplication app(options(), configure, with(two));
  EXPECT_EQ(app.post_json("/bookings", Booking{3, "2026-01-01", "2026-01-02"}).status(), 409u);
  EXPECT_FALSE(one.run("INSERT INTO desks VALUES (3)"));
}

TEST_F(TemporaryPostgresTest, a_database_is_asked_without_a_program) {
  TemporaryPostgres database(migrations());
  ASSERT_EQ(database.problem(), "");
  EXPECT_TRUE(database.run("SELECT 1"));
  EXPECT_EQ(database.database().system(), "postgresql");
  EXPECT_THAT(database.url(), HasSubstr("postgresql://katana@%2F"));
}

TEST_F(TemporaryPostgresTest, a_migration_that_is_wrong_is_told) {
  const TemporaryPostgres broken{{"0001_broken.sql", "CREATE TABEL x (y INT)"}};
  EXPECT_FALSE(broken.is_missing());
  EXPECT_THAT(broken.problem(), HasSubstr("0001_broken.sql"));
  EXPECT_FALSE(broken.run("SELECT 1"));
  TestApplication app(options(), configure, with(broken));
  EXPECT_FALSE(app.start());
}

TEST_F(TemporaryPostgresTest, migrations_of_a_folder_are_applied) {
  const TemporaryPostgres none(std::string("/nonexistent"));
  EXPECT_THAT(none.problem(), HasSubstr("/nonexistent"));
}

TEST_F(TemporaryPostgresTest, a_database_takes_few_milliseconds) {
  const TemporaryPostgres first(migrations());
  constexpr int rounds = 20;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    const TemporaryPostgres database(migrations());
    ASSERT_EQ(database.problem(), "");
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("a database of PostgreSQL: %.1f ms\n", took.count() / rounds);
}

TEST_F(TemporaryPostgresTest, a_folder_that_a_killed_process_left_is_removed) {
  namespace fs = std::filesystem;
  const auto running = PostgresCluster::of_process();
  ASSERT_TRUE(running);
  const fs::path left = (*running)->folder() + "-left";
  fs::create_directory(left);
  std::ofstream(left / "lock") << "";
  {
    auto programs = find_postgres_programs();
    ASSERT_TRUE(programs);
    auto other = PostgresCluster::start(*programs);
    ASSERT_TRUE(other) << other.error().describe();
    EXPECT_EQ(*(*other)->run("SELECT 7"), "7");
  }
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists((*running)->folder()));
  EXPECT_EQ(*(*running)->run("SELECT 8"), "8");
}

TEST_F(TemporaryPostgresTest, a_server_listens_on_a_socket_of_its_folder_alone) {
  const auto running = PostgresCluster::of_process();
  ASSERT_TRUE(running);
  EXPECT_EQ(*(*running)->run("SHOW listen_addresses"), "");
  EXPECT_EQ(*(*running)->run("SHOW unix_socket_directories"), (*running)->folder());
  EXPECT_EQ(*(*running)->run("SHOW fsync"), "off");
}

TEST_F(TemporaryPostgresTest, a_database_is_gone_with_its_test_also_when_a_program_still_uses_it) {
  const auto running = PostgresCluster::of_process();
  ASSERT_TRUE(running);
  std::string name;
  {
    std::optional<TemporaryPostgres> database(std::in_place, migrations());
    name = database->name();
    TestApplication app(options(), configure, with(*database));
    ASSERT_TRUE(app.start());
    database.reset();  // the wrong order: the program's calls fail, and the test ends
  }
  const std::string count = "SELECT count(*) FROM pg_database WHERE datname = '" + name + "'";
  EXPECT_EQ(*(*running)->run(count), "0");
}

TEST(PostgresPrograms, an_empty_path_of_programs_is_told) {
  auto made = PostgresCluster::start("/nonexistent");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().describe(), HasSubstr("/nonexistent/initdb failed"));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
