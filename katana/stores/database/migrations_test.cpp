#include "katana/stores/database/migrations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace katana::database {
namespace {

using testing::HasSubstr;

class Migrations : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "migrations_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string problem() const {
    const auto read = read_migrations(folder_.string());
    return read ? std::to_string(read->size()) + " good" : read.error().describe();
  }
  std::filesystem::path folder_;
};

TEST_F(Migrations, files_are_read_in_the_order_of_their_numbers) {
  write("2_second.sql", "b");
  write("0001_first.sql", "a");
  write("10_later.sql", "ignored?");
  EXPECT_THAT(problem(), HasSubstr("migration 3 is missing: the next file is '10_later.sql'"));
  std::filesystem::remove(folder_ / "10_later.sql");
  write("README.md", "no migration");
  const auto read = read_migrations(folder_.string());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].file, "0001_first.sql");
  EXPECT_EQ((*read)[1].text, "b");
}

TEST_F(Migrations, a_wrong_name_or_number_is_named) {
  write("create.sql", "");
  EXPECT_THAT(problem(), HasSubstr("'create.sql' is no name of a migration"));
  std::filesystem::remove(folder_ / "create.sql");
  write("0_zero.sql", "");
  EXPECT_THAT(problem(), HasSubstr("'0_zero.sql'"));
  std::filesystem::remove(folder_ / "0_zero.sql");
  write("1_a.sql", "");
  write("01_b.sql", "");
  EXPECT_THAT(problem(), HasSubstr("'01_b.sql' and '1_a.sql' have the same number"));
}

TEST_F(Migrations, what_is_no_text_is_named_and_not_taken_for_an_empty_file) {
  write("1_a.sql", std::string("SELECT 1\0;", 10));
  EXPECT_THAT(problem(), HasSubstr("1_a.sql' is no text: it has a zero byte"));
  std::filesystem::remove(folder_ / "1_a.sql");
  std::filesystem::create_directory(folder_ / "1_a.sql");
  EXPECT_THAT(problem(), HasSubstr("cannot read"));
}

TEST_F(Migrations, of_the_largest_size_are_read_and_one_byte_more_is_refused) {
  constexpr std::size_t largest = 16 * 1024 * 1024;
  write("1_a.sql", std::string(largest, ' '));
  EXPECT_EQ(problem(), "1 good");
  write("1_a.sql", std::string(largest + 1, ' '));
  EXPECT_THAT(problem(), HasSubstr("is larger than"));
  std::filesystem::remove(folder_ / "1_a.sql");
  std::filesystem::create_symlink("/dev/zero", folder_ / "1_a.sql");
  EXPECT_THAT(problem(), HasSubstr("is larger than")) << "reading ends";
}

TEST_F(Migrations, of_a_program_have_names_that_files_have) {
  const auto bundled = bundled_migrations({{"1_a.txt", "SELECT 1"}});
  ASSERT_FALSE(bundled);
  EXPECT_THAT(bundled.error().describe(), HasSubstr("'1_a.txt' is no name of a migration"));
}

std::string names_of(const katana::Result<std::vector<Migration>>& files) {
  if (!files) return files.error().describe();
  std::string names;
  for (const Migration& file : *files) names += file.file + " ";
  return names;
}

TEST_F(Migrations, a_file_may_be_for_one_kind_of_database) {
  write("1_users.sqlite.sql", "s");
  write("1_users.postgres.sql", "p");
  write("2_both.sql", "b");
  const auto files = read_migrations(folder_.string());
  ASSERT_TRUE(files) << files.error().describe();
  EXPECT_EQ(names_of(migrations_for("sqlite", *files)), "1_users.sqlite.sql 2_both.sql ");
  EXPECT_EQ(names_of(migrations_for("postgres", *files)), "1_users.postgres.sql 2_both.sql ");
  write("3_more.mysql.sql", "");
  EXPECT_THAT(problem(), HasSubstr("NUMBER_name.postgres.sql"));
}

TEST_F(Migrations, a_file_is_for_one_kind_of_database_and_not_for_two) {
  for (const char* const name : {"1_a.sqlite.postgres.sql", "1_a.postgres.sqlite.sql"}) {
    write(name, "a");
    EXPECT_THAT(problem(), HasSubstr("is no name of a migration")) << name;
    std::filesystem::remove(folder_ / name);
  }
}

TEST_F(Migrations, each_kind_of_database_has_its_numbers_without_gaps) {
  write("1_users.sqlite.sql", "s");
  write("2_both.sql", "b");
  EXPECT_EQ(problem(), "2 good") << "of PostgreSQL nothing is said";
  const auto files = read_migrations(folder_.string());
  EXPECT_THAT(names_of(migrations_for("postgres", *files)),
              HasSubstr("migrations for postgres: migration 1 is missing"));
  write("3_more.postgres.sql", "");
  EXPECT_THAT(problem(), HasSubstr("migrations for postgres: migration 1 is missing"));
  EXPECT_THAT(names_of(migrations_for("postgres", {{1, "1_a.sqlite.sql", "", "", "sqlite"}})),
              HasSubstr("no migration is for postgres: '1_a.sqlite.sql' is for sqlite only"));
}

TEST_F(Migrations, a_folder_that_is_not_there_is_named) {
  const auto read = read_migrations((folder_ / "none").string());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().describe(), HasSubstr("none"));
}

TEST_F(Migrations, what_was_applied_must_still_be_there_and_be_the_same) {
  const std::vector<Migration> files = {{1, "1_a.sql", "aa", ""}, {2, "2_b.sql", "bb", ""}};
  const auto plan = [&](const std::vector<Migration>& applied) {
    const auto planned = plan_migrations(files, applied);
    return planned ? std::to_string(planned->size()) + " to do" : planned.error().describe();
  };
  EXPECT_EQ(plan({}), "2 to do");
  EXPECT_EQ(plan({{1, "1_a.sql", "aa", ""}}), "1 to do");
  EXPECT_EQ(plan({{1, "1_renamed.sql", "aa", ""}, {2, "2_b.sql", "bb", ""}}), "0 to do");
  EXPECT_THAT(plan({{1, "1_a.sql", "other", ""}}), HasSubstr("'1_a.sql' was changed after"));
  EXPECT_THAT(plan({{1, "1_a.sql", "aa", ""}, {2, "2_b.sql", "bb", ""}, {3, "3_c.sql", "cc", ""}}),
              HasSubstr("'3_c.sql' was applied, and its file is missing"));
  EXPECT_THAT(plan({{2, "2_b.sql", "bb", ""}}), HasSubstr("lacks number 1"));
}

TEST_F(Migrations, a_checksum_is_of_the_text_whatever_its_line_ends) {
  EXPECT_EQ(migration_checksum("a\nb\n"), migration_checksum("a\r\nb\r\n"));
  EXPECT_NE(migration_checksum("a\nb\n"), migration_checksum("a\nb"));
  EXPECT_EQ(migration_checksum("").size(), 16u);
}

TEST_F(Migrations, a_byte_order_mark_is_not_of_the_text_and_the_checksum_stays_as_it_was) {
  const std::string marked =
      "\xef\xbb\xbf"
      "CREATE TABLE a (id INT);";
  write("0001_a.sql", marked);
  const auto read = read_migrations(folder_.string());
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].text, "CREATE TABLE a (id INT);");
  EXPECT_EQ((*read)[0].checksum, migration_checksum(marked));
  const auto bundled = bundled_migrations({{"0001_a.sql", marked}});
  ASSERT_TRUE(bundled);
  EXPECT_EQ((*bundled)[0].text, (*read)[0].text);
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
