// Migrations that a crash interrupts, at every operation of the disk: the next start finishes them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/migrate.hpp"
#include "katana/testing/disk/disk_scene_test.hpp"

namespace katana::testing {
namespace {

std::vector<database::Migration> migrations(std::size_t count) {
  std::vector<database::MigrationFile> files = {
      {"0001_users.sql",
       "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT; "
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
       "INSERT INTO users SELECT i, hex(zeroblob(300)) FROM n"},
      {"0002_email.sql", "ALTER TABLE users ADD COLUMN email TEXT; UPDATE users SET email = id"},
      {"0003_index.sql", "CREATE UNIQUE INDEX users_by_email ON users (email)"},
      {"0004_short.sql", "UPDATE users SET name = 'short'; CREATE TABLE notes (id INTEGER)"}};
  files.resize(count);
  return *database::bundled_migrations(files);
}

database::sqlite::Options options_with(std::size_t count) {
  database::sqlite::Options options;
  options.bundled = migrations(count);
  return options;
}

// The state of the file: the number of migrations that it has, whole; or what is wrong.
std::string state_of(const SimulatedDisk& disk) {
  const auto left = disk.after_crash(1);
  SqliteHandle file(DiskScene::path, left->vfs());
  if (const std::string whole = file.ask("PRAGMA integrity_check"); whole != "ok") return whole;
  if (file.ask("SELECT count(*) FROM sqlite_schema WHERE name = 'users'") == "0") return "0";
  const std::string count = file.ask("SELECT count(*) FROM katana_migrations");
  const std::string rows = file.ask("SELECT count(*), count(length(name) > 5) FROM users");
  if (rows != "60 60") return count + " migrations and rows " + rows;
  if (count == "1") return count;
  const std::string filled = file.ask(
      "SELECT count(DISTINCT email) FROM users INDEXED BY users_by_email "
      "WHERE email IS NOT NULL AND name = 'short'");
  return filled == "60" ? count : count + " migrations and " + filled + " e-mail addresses";
}

class MigrationsTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(MigrationsTest, that_a_crash_interrupts_are_finished_by_the_next_start) {
  const std::string before = std::to_string(GetParam());
  int crashes = 0, undone = 0, done = 0;
  for (std::uint64_t operation = 1, reached = 1; reached != 0; ++operation) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      DiskScene scene(100 * operation + seed, {.rot_per_1024 = seed % 2 == 0 ? 100U : 0U},
                      options_with(4));
      if (GetParam() != 0) {
        const auto old =
            database::sqlite::migrate({.path = DiskScene::path, .vfs = scene.disk.vfs()},
                                      {.bundled = migrations(GetParam())});
        ASSERT_TRUE(old) << old.error().describe();
      }
      scene.disk.crash_at(scene.disk.operations() + operation);
      const bool opened = scene.open();
      reached = scene.disk.is_down() ? 1 : 0;
      crashes += static_cast<int>(reached);
      scene.restart();
      const std::string left = state_of(scene.disk);
      EXPECT_TRUE(left == before || left == "4") << left << " at operation " << operation;
      EXPECT_TRUE(!opened || left == "4") << "a start that succeeded is durable";
      undone += left == before ? 1 : 0;
      done += left == "4" ? 1 : 0;
      ASSERT_TRUE(scene.open()) << scene.refusal() << " at operation " << operation;
      scene.restart();
      ASSERT_EQ(state_of(scene.disk), "4") << "at operation " << operation;
    }
  }
  EXPECT_GT(crashes, 40);
  EXPECT_GT(undone, 0);
  EXPECT_GT(done, 0);
}
INSTANTIATE_TEST_SUITE_P(From, MigrationsTest, ::testing::Values(0, 1));

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
