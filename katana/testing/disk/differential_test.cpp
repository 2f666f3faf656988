// The same statements on a simulated disk and on a file of the machine: the same rows and errors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/testing/disk/disk_scene_test.hpp"

namespace katana::testing {
namespace {

// Statements that read, write, fail, and lock, drawn from a seed.
class Statements {
 public:
  explicit Statements(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    const std::uint64_t id = random_.below(60);
    switch (random_.below(19)) {
      case 0: return fmt::format("CREATE TABLE IF NOT EXISTS t{} (id INTEGER)", random_.below(4));
      case 1: return fmt::format("DROP TABLE t{}", random_.below(4));
      case 2: return "BEGIN IMMEDIATE";
      case 3: return "BEGIN";
      case 4:
      case 5: return "COMMIT";
      case 6: return "ROLLBACK";
      case 7: return fmt::format("DELETE FROM a WHERE id % 7 = {}", random_.below(7));
      case 8: return fmt::format("UPDATE a SET n = n + {} WHERE id > {}", random_.below(9), id);
      case 9: return "SELECT count(*), sum(n), sum(length(v)) FROM a";
      case 10: return "SELECT id, n FROM a ORDER BY n DESC, id LIMIT 5";
      case 11: return fmt::format("INSERT OR REPLACE INTO a VALUES ({}, 1, 'r')", id);
      case 12: return "PRAGMA wal_checkpoint(TRUNCATE)";
      case 13: return "CREATE INDEX IF NOT EXISTS by_n ON a (n)";
      case 14: return random_.below(3) == 0 ? "VACUUM" : "PRAGMA integrity_check";
      case 15:
        return fmt::format(
            "SAVEPOINT s; INSERT INTO a VALUES ({}, 0, ''); ROLLBACK TO s; "
            "RELEASE s",
            id);
      case 16: return "SELECT nonsense FROM nowhere";
      default:
        return fmt::format("INSERT INTO a VALUES ({}, {}, hex(zeroblob({})))", id,
                           random_.below(100), random_.below(3000));
    }
  }
  std::size_t connection() { return random_.below(8) == 0 ? 1 : 0; }
  bool reopens() { return random_.below(40) == 0; }

 private:
  Random random_;
};

// The answers to 150 statements by two connections to one file.
std::vector<std::string> answers(std::uint64_t seed, const std::string& path,
                                 const std::string& vfs) {
  Statements statements(seed);
  std::vector<std::unique_ptr<SqliteHandle>> connections;
  const auto open = [&] {
    connections.clear();
    for (int count = 0; count < 2; ++count) {
      connections.push_back(std::make_unique<SqliteHandle>(path, vfs));
    }
  };
  open();
  std::vector<std::string> all;
  const std::string mode = seed % 4 == 0 ? "DELETE" : seed % 4 == 1 ? "TRUNCATE" : "WAL";
  all.push_back(connections[0]->ask("PRAGMA journal_mode = " + mode));
  for (const auto& each : connections) (void)each->run("PRAGMA synchronous = OFF");  // in time
  all.push_back(connections[0]->ask("CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER, v TEXT)"));
  for (int count = 0; count < 150; ++count) {
    const std::string statement = statements.next();
    SqliteHandle& file = *connections[statements.connection()];
    std::vector<std::string> rows;
    const int code = file.run(statement, &rows);
    std::string answer = fmt::format("{}: {}", statement, code);
    for (const std::string& row : rows) answer += " " + row;
    all.push_back(std::move(answer));
    if (statements.reopens()) open();
  }
  return all;
}

TEST(DifferentialTest, a_simulated_disk_answers_as_a_file_does) {
  database::sqlite::Folder folder;
  int succeeded = 0, busy = 0, failed = 0;
  for (const std::uint64_t seed : seeds(15)) {
    SimulatedDisk disk({.seed = seed});
    const auto on_file = answers(seed, folder / fmt::format("{}.db", seed), "");
    const auto on_disk = answers(seed, "a.db", disk.vfs());
    ASSERT_EQ(on_file.size(), on_disk.size());
    for (std::size_t at = 0; at < on_file.size(); ++at) {
      ASSERT_EQ(on_file[at], on_disk[at]) << "seed " << seed << ", statement " << at;
      succeeded += on_file[at].contains(": 0") ? 1 : 0;
      busy += on_file[at].ends_with(": 5") ? 1 : 0;
      failed += on_file[at].ends_with(": 1") ? 1 : 0;
    }
  }
  EXPECT_GT(succeeded, 500);
  EXPECT_GT(busy, 10) << "locks were compared";
  EXPECT_GT(failed, 10);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
