#include "katana/stores/database/sqlite/migrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/connection.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {
namespace {

using testing::HasSubstr;

class MigrateTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "m");
    folder_.write("m/1_create.sql",
                  "-- the users\nCREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);\n"
                  "INSERT INTO users (name) VALUES ('first;'); -- with a semicolon\n");
    folder_.write("m/2_add.sql", "ALTER TABLE users ADD COLUMN age INT");
  }
  std::string run(bool dry_run = false) {
    const auto report = migrate({.path = path_}, {.folder = folder_ / "m", .dry_run = dry_run});
    if (!report) return report.error().describe();
    return std::to_string(report->before) + " before, " + std::to_string(report->applied.size()) +
           " now";
  }
  std::string tables() {
    return Bare(path_).one("SELECT count(*) FROM sqlite_schema WHERE type = 'table'");
  }
  Folder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(MigrateTest, each_is_applied_once) {
  EXPECT_EQ(run(), "0 before, 2 now");
  EXPECT_EQ(run(), "2 before, 0 now");
  folder_.write("m/3_more.sql", "UPDATE users SET age = 3; CREATE INDEX by_age ON users (age)");
  EXPECT_EQ(run(), "2 before, 1 now");
  Bare bare(path_);
  EXPECT_EQ(bare.one("SELECT name || age FROM users"), "first;3");
  EXPECT_EQ(bare.list("SELECT file FROM katana_migrations").size(), 3u);
}

TEST_F(MigrateTest, what_was_applied_is_told_behind_the_commit_with_its_times) {
  std::vector<std::string> told;
  const Opening opening{.on_migrated = [&](std::span<const Migration> applied) {
    for (const Migration& each : applied) {
      EXPECT_LE(each.began, each.ended);
      EXPECT_GT(each.began, Instant{});
      told.push_back(each.file + " of " +
                     Bare(path_).one("SELECT count(*) FROM katana_migrations"));
    }
  }};
  const auto migrate_now = [&](bool dry_run) {
    return migrate({.path = path_},
                   {.folder = folder_ / "m", .dry_run = dry_run, .opening = opening});
  };
  ASSERT_TRUE(migrate_now(true));
  EXPECT_THAT(told, testing::IsEmpty()) << "nothing was applied";
  ASSERT_TRUE(migrate_now(false));
  EXPECT_THAT(told, testing::ElementsAre("1_create.sql of 2", "2_add.sql of 2"));
  ASSERT_TRUE(migrate_now(false));
  EXPECT_THAT(told, testing::SizeIs(2)) << "each once";
  folder_.write("m/3_wrong.sql", "SELEKT 1");
  EXPECT_FALSE(migrate_now(false));
  EXPECT_THAT(told, testing::SizeIs(2));
}

TEST_F(MigrateTest, a_dry_run_finds_what_is_wrong_and_changes_nothing) {
  EXPECT_EQ(run(true), "0 before, 2 now");
  EXPECT_EQ(tables(), "0");
  folder_.write("m/3_wrong.sql", "CREATE TABLE more (a INT);\nINSERT INTO nowhere VALUES (1)");
  EXPECT_THAT(run(true), HasSubstr("3_wrong.sql: no such table: nowhere"));
  EXPECT_THAT(run(true), HasSubstr("INSERT INTO nowhere"));
}

TEST_F(MigrateTest, one_that_fails_leaves_the_file_as_it_was) {
  folder_.write("m/3_wrong.sql", "CREATE TABLE more (a INT); SELEKT 1");
  EXPECT_THAT(run(), HasSubstr("3_wrong.sql: near \"SELEKT\": syntax error"));
  EXPECT_EQ(tables(), "0");
  folder_.write("m/3_wrong.sql", "COMMIT");
  EXPECT_THAT(run(), HasSubstr("cannot begin or end a transaction"));
  EXPECT_EQ(tables(), "0");
}

TEST_F(MigrateTest, one_that_violates_a_deferred_key_is_rolled_back_by_its_commit) {
  folder_.write("m/3_orphan.sql",
                "CREATE TABLE pets (owner INTEGER REFERENCES users (id) DEFERRABLE INITIALLY "
                "DEFERRED); INSERT INTO pets VALUES (99)");
  const Options options{.path = path_};
  const std::function<Instant()> clock = &monotonic_now;
  const auto connection = Connection::open(options, Access::create, clock);
  ASSERT_TRUE(connection) << connection.error().describe();
  const auto report = migrate(**connection, options, {.folder = folder_ / "m"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().describe(), HasSubstr("cannot commit"));
  EXPECT_FALSE((*connection)->in_transaction()) << "the lock is free";
  EXPECT_EQ(tables(), "0");
}

TEST_F(MigrateTest, one_that_rolls_back_by_itself_is_told_with_its_own_failure) {
  folder_.write("m/3_conflict.sql",
                "INSERT INTO users (id, name) VALUES (7, 'x'); INSERT OR ROLLBACK INTO users (id, "
                "name) VALUES (7, 'y')");
  EXPECT_THAT(run(), HasSubstr("3_conflict.sql: UNIQUE constraint failed: users.id"));
  EXPECT_EQ(tables(), "0");
}

TEST_F(MigrateTest, a_list_of_migrations_that_cannot_be_read_is_an_error) {
  Bare(path_).run(
      "CREATE TABLE katana_migrations (number TEXT, file TEXT, checksum TEXT, applied_at TEXT); "
      "INSERT INTO katana_migrations VALUES ('one', '1_create.sql', 'x', 'y')");
  EXPECT_THAT(run(), HasSubstr("'number' is no integer"));
  EXPECT_EQ(tables(), "1");
}

TEST_F(MigrateTest, a_changed_or_missing_file_is_named_with_the_database) {
  EXPECT_EQ(run(), "0 before, 2 now");
  folder_.write("m/2_add.sql", "ALTER TABLE users ADD COLUMN age TEXT");
  EXPECT_THAT(run(), testing::AllOf(HasSubstr(path_), HasSubstr("'2_add.sql' was changed")));
  std::filesystem::remove(folder_ / "m/2_add.sql");
  EXPECT_THAT(run(), HasSubstr("'2_add.sql' was applied, and its file is missing"));
}

TEST_F(MigrateTest, a_file_that_cannot_be_opened_is_told_and_nothing_is_made) {
  const std::string path = folder_ / "nowhere/a.db";
  const auto report = migrate({.path = path}, {.folder = folder_ / "m", .dry_run = false});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().describe(), HasSubstr(path));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
}

TEST_F(MigrateTest, of_several_programs_that_start_at_once_one_applies_them) {
  std::vector<std::string> answers(4);
  std::vector<std::thread> programs;
  for (std::string& answer : answers) {
    programs.emplace_back([this, &answer] { answer = run(); });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_THAT(answers, testing::UnorderedElementsAre("0 before, 2 now", "2 before, 0 now",
                                                     "2 before, 0 now", "2 before, 0 now"));
}

TEST_F(MigrateTest, opening_a_database_applies_them_or_says_why_not) {
  ASSERT_TRUE(sqlite::open({.path = path_, .migrations = folder_ / "m"}));
  EXPECT_EQ(tables(), "2");
  folder_.write("m/1_create.sql", "changed");
  const auto refused = sqlite::open({.path = path_, .migrations = folder_ / "m"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("restore the file"));
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
