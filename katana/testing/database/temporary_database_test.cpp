#include "katana/testing/database/temporary_database.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"

namespace katana::testing {
namespace {

using database::Kind;
using ::testing::HasSubstr;

// A program that waits for its database without a reactor.
database::Result<std::int64_t> add(database::Database& database, int id, std::string value) {
  auto ask = [](database::Database& db, int key,
                std::string text) -> Task<database::Result<std::int64_t>> {
    co_return co_await db.execute("INSERT INTO t VALUES ($1, $2)", key, text);
  };
  return thread::Loop().run(ask(database, id, std::move(value)));
}
database::Result<std::optional<std::int64_t>> count(database::Database& database) {
  auto ask = [](database::Database& db) -> Task<database::Result<std::optional<std::int64_t>>> {
    co_return co_await db.query_one<std::int64_t>("SELECT count(*) FROM t");
  };
  return thread::Loop().run(ask(database));
}

const std::vector<database::MigrationFile> migrations = {
    {"0001_t.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE) STRICT"},
    {"0002_row.sql", "INSERT INTO t VALUES (1, 'one')"}};

TEST(TemporaryDatabase, has_its_migrations_and_nothing_of_another_one) {
  TemporaryDatabase first(migrations), second(migrations);
  ASSERT_EQ(first.problem(), "");
  EXPECT_EQ(add(first.database(), 2, "two").value(), 1);
  EXPECT_EQ(count(first.database()).value(), 2);
  EXPECT_EQ(count(second.database()).value(), 1);
  const auto twice = add(first.database(), 3, "two");
  EXPECT_EQ(twice.error().kind(), Kind::constraint_violation);
}

TEST(TemporaryDatabase, takes_a_folder_of_migrations) {
  const database::sqlite::Folder folder;
  const std::string file = folder.write("0001_t.sql", migrations[0].text);
  TemporaryDatabase database(file.substr(0, file.rfind('/')));
  ASSERT_EQ(database.problem(), "");
  EXPECT_EQ(count(database.database()).value(), 0);
}

TEST(TemporaryDatabase, a_migration_that_is_wrong_is_told_by_every_call) {
  TemporaryDatabase database({{"0001_t.sql", "CREATE TABEL t (id INTEGER)"}});
  EXPECT_THAT(database.problem(), HasSubstr("0001_t.sql"));
  EXPECT_THAT(database.problem(), HasSubstr("TABEL"));
  const auto counted = count(database.database());
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().kind(), Kind::unavailable);
  EXPECT_THAT(counted.error().describe(), HasSubstr("TABEL"));
  EXPECT_FALSE(database->health());
}

TEST(TemporaryDatabase, faults_are_what_the_real_ones_are) {
  TemporaryDatabase database(migrations);
  database.faults().disk_full();
  auto failed = count(database.database());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), Kind::unavailable);
  EXPECT_THAT(failed.error().describe(), HasSubstr("the database is not usable at present"));
  EXPECT_THAT(failed.error().describe(), HasSubstr("database or disk is full (13)"));
  EXPECT_FALSE(database->health());
  EXPECT_FALSE(database->statistics().usable);

  database.faults().heal();
  database.faults().overloaded();
  failed = count(database.database());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), Kind::unavailable);
  EXPECT_THAT(failed.error().describe(), HasSubstr("the database is busy"));
  EXPECT_TRUE(database->health());

  database.faults().heal();
  database.faults().fail_next(database::Error(Kind::busy, "another process holds the lock"), 2);
  EXPECT_EQ(add(database.database(), 2, "two").error().kind(), Kind::busy);
  EXPECT_EQ(count(database.database()).error().kind(), Kind::busy);
  EXPECT_EQ(count(database.database()).value(), 1);
}

TEST(TemporaryDatabase, a_transaction_of_which_a_call_fails_is_rolled_back) {
  TemporaryDatabase database(migrations);
  auto body = [&](database::Transaction& within) -> Task<database::Result<std::int64_t>> {
    auto added = co_await within.execute("INSERT INTO t VALUES (2, 'two')");
    if (!added) co_return added;
    database.faults().fail_next(database::Error(Kind::busy, "locked"));
    auto failed = co_await within.execute("INSERT INTO t VALUES (3, 'three')");
    EXPECT_EQ(failed.error().kind(), Kind::busy);
    co_return co_await within.execute("INSERT INTO t VALUES (4, 'four')");
  };
  const auto done = thread::Loop().run(database::transact(database.database(), body));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), Kind::failed_transaction);
  EXPECT_EQ(count(database.database()).value(), 1);
}

TEST(TemporaryDatabase, a_transaction_that_meets_a_conflict_is_run_again) {
  TemporaryDatabase database(migrations);
  int attempts = 0;
  auto body = [&](database::Transaction& within) -> Task<Result<int>> {
    if (++attempts < 3) {
      database.faults().fail_next(database::Error(Kind::conflict, "run it again"));
    }
    auto added = co_await within.execute("INSERT INTO t VALUES (2, 'two')");
    if (!added) co_return std::unexpected(added.error());
    co_return attempts;
  };
  const auto done = thread::Loop().run(database::transact(database.database(), body));
  EXPECT_TRUE(done && *done == 3);
  EXPECT_EQ(count(database.database()).value(), 2);
}

TEST(TemporaryDatabase, is_made_fast_enough_for_each_test_to_have_one) {
  const auto begin = std::chrono::steady_clock::now();
  for (int number = 0; number < 100; ++number) {
    TemporaryDatabase database(migrations);
    ASSERT_EQ(database.problem(), "");
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("a temporary database with migrations: %.2f ms\n", took.count() / 100);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
