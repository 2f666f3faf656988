// The disk itself, by SQLite's own calls.
#include "katana/testing/disk/simulated_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "katana/testing/disk/sqlite_handle_test.hpp"

namespace katana::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* wal = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";

void fill(SqliteHandle& file, int from, int to) {
  for (int id = from; id < to; ++id) {
    ASSERT_EQ(file.run("INSERT INTO t VALUES (" + std::to_string(id) + ", hex(zeroblob(400)))"),
              SQLITE_OK);
  }
}

TEST(SimulatedDiskTest, a_file_is_what_was_written_and_the_machine_has_no_file) {
  SimulatedDisk disk;
  {
    SqliteHandle file("a.db", disk.vfs());
    EXPECT_EQ(file.ask("PRAGMA journal_mode = WAL"), "wal");
    EXPECT_EQ(file.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"), SQLITE_OK);
    fill(file, 0, 20);
    EXPECT_THAT(disk.files(), ElementsAre("/a.db", "/a.db-wal"));
  }
  EXPECT_THAT(disk.files(), ElementsAre("/a.db")) << "the last connection writes the log back";
  SqliteHandle again("/a.db", disk.vfs());
  EXPECT_EQ(again.ask("SELECT count(*) FROM t"), "20");
  EXPECT_EQ(disk.file_bytes("a.db") % 4096, 0u);
}

TEST(SimulatedDiskTest, disks_have_files_of_their_own) {
  SimulatedDisk one, other;
  SqliteHandle first("a.db", one.vfs()), second("a.db", other.vfs());
  EXPECT_EQ(first.run("CREATE TABLE t (id INTEGER)"), SQLITE_OK);
  EXPECT_EQ(second.ask("SELECT count(*) FROM sqlite_schema"), "0");
}

TEST(SimulatedDiskTest, connections_lock_and_see_one_another_as_on_a_file) {
  for (const char* mode : {"WAL", "DELETE"}) {
    SimulatedDisk disk;
    SqliteHandle writer("a.db", disk.vfs()), other("a.db", disk.vfs());
    ASSERT_EQ(writer.run(std::string("PRAGMA journal_mode = ") + mode), SQLITE_OK);
    ASSERT_EQ(writer.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"), SQLITE_OK);
    ASSERT_EQ(writer.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 'a')"), SQLITE_OK);
    EXPECT_EQ(other.run("BEGIN IMMEDIATE") & 0xff, SQLITE_BUSY) << mode;
    EXPECT_EQ(other.ask("SELECT count(*) FROM t"), "0") << mode;
    ASSERT_EQ(writer.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(other.ask("SELECT count(*) FROM t"), "1") << mode;
    // A reader keeps its snapshot in a log, and holds up the writer of a journal.
    ASSERT_EQ(other.run("BEGIN; SELECT * FROM t"), SQLITE_OK);
    const int written = writer.run("INSERT INTO t VALUES (2, 'b')");
    EXPECT_EQ(written, std::string(mode) == "WAL" ? SQLITE_OK : SQLITE_BUSY);
    EXPECT_EQ(other.ask("SELECT count(*) FROM t"), "1") << mode;
  }
}

TEST(SimulatedDiskTest, threads_write_by_connections_of_their_own) {
  SimulatedDisk disk;
  SqliteHandle first("a.db", disk.vfs());
  ASSERT_EQ(first.run(std::string(wal) + "CREATE TABLE t (id INTEGER PRIMARY KEY)"), SQLITE_OK);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&disk, number] {
      SqliteHandle file("a.db", disk.vfs());
      sqlite3_busy_timeout(file.handle(), 60'000);
      for (int id = 0; id < 25; ++id) {
        EXPECT_EQ(file.run("INSERT INTO t VALUES (" + std::to_string(100 * number + id) + ")"),
                  SQLITE_OK);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(first.ask("SELECT count(*) FROM t"), "100");
  EXPECT_EQ(first.ask("PRAGMA integrity_check"), "ok");
}

// Rows 0 to 9 are synced, rows 10 to 19 are not.
void write_half_synced(SimulatedDisk& disk, SqliteHandle& file) {
  ASSERT_EQ(file.run(std::string(wal) + "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"),
            SQLITE_OK);
  fill(file, 0, 10);
  ASSERT_EQ(file.run("PRAGMA synchronous = NORMAL"), SQLITE_OK);
  fill(file, 10, 20);
  ASSERT_EQ(disk.is_down(), false);
}

TEST(SimulatedDiskTest, a_crash_keeps_what_was_synced_and_any_part_of_the_rest) {
  std::set<std::string> counts;
  std::uint64_t torn = 0, lost = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SimulatedDisk disk({.seed = seed, .rot_per_1024 = seed % 2 == 0 ? 100U : 0U});
    {
      SqliteHandle file("a.db", disk.vfs());
      write_half_synced(disk, file);
      disk.crash();
      EXPECT_NE(file.run("INSERT INTO t VALUES (99, '')"), SQLITE_OK);
      disk.restart();
      EXPECT_NE(file.run("INSERT INTO t VALUES (99, '')"), SQLITE_OK) << "of before the crash";
    }
    SqliteHandle file("a.db", disk.vfs());
    EXPECT_EQ(file.ask("PRAGMA integrity_check"), "ok") << seed;
    EXPECT_EQ(file.ask("SELECT count(*) FROM t WHERE id < 10"), "10") << seed;
    EXPECT_EQ(file.ask("SELECT count(*) FROM t"), file.ask("SELECT max(id) + 1 FROM t"))
        << "no hole, seed " << seed;
    counts.insert(file.ask("SELECT count(*) FROM t"));
    torn += disk.count(DiskPoint::page_torn);
    lost += disk.count(DiskPoint::page_lost);
    kept += disk.count(DiskPoint::page_kept);
    EXPECT_GT(disk.count(DiskPoint::dead_call), 0u);
  }
  EXPECT_TRUE(counts.contains("10") && counts.contains("20")) << "all lost, and all kept";
  EXPECT_GE(counts.size(), 4u) << "and some of it";
  EXPECT_GT(std::min({torn, lost, kept}), 0u);
}

TEST(SimulatedDiskTest, the_end_of_a_process_loses_nothing) {
  SimulatedDisk disk;
  {
    SqliteHandle file("a.db", disk.vfs());
    write_half_synced(disk, file);
    ASSERT_EQ(file.run("BEGIN IMMEDIATE"), SQLITE_OK);
    disk.end_process();
    disk.restart();
  }
  SqliteHandle file("a.db", disk.vfs());
  EXPECT_EQ(file.ask("SELECT count(*) FROM t"), "20");
  EXPECT_EQ(file.run("INSERT INTO t VALUES (20, '')"), SQLITE_OK) << "its locks are gone, too";
}

TEST(SimulatedDiskTest, a_crash_may_be_looked_at_while_the_disk_goes_on) {
  SimulatedDisk disk;
  SqliteHandle file("a.db", disk.vfs());
  write_half_synced(disk, file);
  std::set<std::string> counts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto left = disk.after_crash(seed);
    SqliteHandle found("a.db", left->vfs());
    counts.insert(found.ask("SELECT count(*) FROM t"));
  }
  EXPECT_TRUE(counts.contains("10") && counts.contains("20"));
  EXPECT_EQ(file.ask("SELECT count(*) FROM t"), "20");
}

TEST(SimulatedDiskTest, a_name_that_was_made_lasts_when_its_folder_was_synced) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SimulatedDisk disk({.seed = seed});
    {
      SqliteHandle file("a.db", disk.vfs());
      // The first page goes to the file without a journal, and nothing is synced.
      ASSERT_EQ(file.run("PRAGMA synchronous = OFF; CREATE TABLE t (id INTEGER)"), SQLITE_OK);
      disk.crash();
      disk.restart();
    }
    lost += disk.files().empty() ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 40);
}

TEST(SimulatedDiskTest, a_disk_that_lies_loses_what_it_said_was_there) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedDisk disk({.seed = seed, .ignores_sync = true});
    {
      SqliteHandle file("a.db", disk.vfs());
      ASSERT_EQ(file.run(std::string(wal) + "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"),
                SQLITE_OK);
      fill(file, 0, 10);
      disk.crash();
      disk.restart();
    }
    SqliteHandle file("a.db", disk.vfs());
    lost += file.ask("SELECT count(*) FROM t") == "10" ? 0 : 1;
  }
  EXPECT_GT(lost, 0);
}

TEST(SimulatedDiskTest, a_failed_sync_loses_pages_that_no_later_sync_writes) {
  int holes = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SimulatedDisk disk({.seed = seed});
    {
      SqliteHandle file("a.db", disk.vfs());
      ASSERT_EQ(file.run("PRAGMA journal_mode = OFF; CREATE TABLE t (id INTEGER, v TEXT)"),
                SQLITE_OK);
      disk.fail(DiskFault::sync_error);
      EXPECT_EQ(file.run("INSERT INTO t VALUES (1, hex(zeroblob(9000)))"), SQLITE_IOERR_FSYNC);
      EXPECT_EQ(disk.count(DiskPoint::sync_failed), 1u);
      (void)file.run("PRAGMA user_version = 3");  // syncs well
      disk.crash();
      disk.restart();
    }
    SqliteHandle file("a.db", disk.vfs());
    holes += file.ask("PRAGMA integrity_check") == "ok" ? 0 : 1;
  }
  EXPECT_GT(holes, 0) << "without a journal nothing mends that";
}

TEST(SimulatedDiskTest, a_full_disk_refuses_and_takes_again_when_there_is_room) {
  SimulatedDisk disk({.capacity_bytes = 40 * 4096});
  SqliteHandle file("a.db", disk.vfs());
  ASSERT_EQ(file.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"), SQLITE_OK);
  int code = SQLITE_OK;
  for (int id = 0; id < 1000 && code == SQLITE_OK; ++id) {
    code = file.run("INSERT INTO t (v) VALUES (hex(zeroblob(1000)))");
  }
  EXPECT_EQ(code, SQLITE_FULL);
  EXPECT_GT(disk.count(DiskPoint::full), 0u);
  EXPECT_EQ(file.ask("PRAGMA integrity_check"), "ok");
  disk.set_capacity(400 * 4096);
  EXPECT_EQ(file.run("INSERT INTO t (v) VALUES (hex(zeroblob(1000)))"), SQLITE_OK);
}

TEST(SimulatedDiskTest, faults_strike_the_named_file_at_the_named_operation) {
  SimulatedDisk disk;
  SqliteHandle file("a.db", disk.vfs());
  ASSERT_EQ(file.run(std::string(wal) + "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"),
            SQLITE_OK);
  disk.fail(DiskFault::write_error, 1, disk_fault_always, "-journal");
  fill(file, 0, 3);
  disk.fail(DiskFault::write_error, 2, 1, "-wal");
  EXPECT_EQ(file.run("INSERT INTO t VALUES (10, '')"), SQLITE_IOERR_WRITE);
  fill(file, 10, 12);
  SqliteHandle other("a.db", disk.vfs());
  disk.fail(DiskFault::read_error, 1, disk_fault_always);
  EXPECT_THAT(other.ask("SELECT count(*) FROM t"), HasSubstr("I/O"));
  disk.heal();
  EXPECT_EQ(other.ask("SELECT count(*) FROM t"), "5");
}

TEST(SimulatedDiskTest, rates_of_the_options_draw_faults_from_the_seed) {
  const auto failures = [](std::uint64_t seed) {
    SimulatedDisk disk({.seed = seed, .sync_errors_per_1024 = 200, .write_errors_per_1024 = 50});
    SqliteHandle file("a.db", disk.vfs());
    std::string codes;
    for (int id = 0; id < 30; ++id) {
      codes += std::to_string(file.run("CREATE TABLE t" + std::to_string(id) + " (v)")) + " ";
    }
    return codes;
  };
  EXPECT_EQ(failures(5), failures(5));
  EXPECT_NE(failures(5), failures(6));
}

TEST(SimulatedDiskTest, a_bit_that_flips_is_read_back) {
  SimulatedDisk disk;
  {
    SqliteHandle file("a.db", disk.vfs());
    ASSERT_EQ(file.run("CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('aaaa')"), SQLITE_OK);
  }
  ASSERT_TRUE(disk.flip_bit("a.db", (8192 - 1) * 8 + 1)) << "the last byte of the row's page";
  EXPECT_FALSE(disk.flip_bit("a.db", 8192 * 8));
  EXPECT_FALSE(disk.flip_bit("b.db", 0));
  SqliteHandle file("a.db", disk.vfs());
  EXPECT_EQ(file.ask("SELECT v FROM t"), "aaac");
}

TEST(SimulatedDiskTest, time_is_counted_and_passed_on_and_nothing_sleeps) {
  Duration passed;
  SimulatedDisk disk({.write_time = milliseconds(1),
                      .sync_time = seconds(3600),
                      .on_delay = [&passed](Duration time) { passed += time; },
                      .unix_time_ms = [] { return std::int64_t{1'000'000'000'000}; }});
  SqliteHandle file("a.db", disk.vfs());
  ASSERT_EQ(file.run("CREATE TABLE t (v TEXT)"), SQLITE_OK);
  EXPECT_GT(passed, seconds(3600));
  EXPECT_EQ(passed, disk.delay());
  EXPECT_EQ(file.ask("SELECT datetime('now')"), "2001-09-09 01:46:40");
}

TEST(SimulatedDiskTest, one_seed_gives_one_trace_and_each_line_of_it_is_an_operation) {
  const auto run = [](std::uint64_t seed, int rows) {
    auto disk = std::make_unique<SimulatedDisk>(DiskOptions{.seed = seed});
    for (int life = 0; life < 3; ++life) {
      disk->crash_at(disk->operations() + 25);
      SqliteHandle file("a.db", disk->vfs());
      (void)file.run(std::string(wal) + "CREATE TABLE IF NOT EXISTS t (v)");
      for (int row = 0; row < rows; ++row) (void)file.run("INSERT INTO t VALUES (1)");
      if (disk->is_down()) disk->restart();
    }
    return disk;
  };
  const auto first = run(3, 20), again = run(3, 20), other = run(4, 20), more = run(3, 2);
  EXPECT_EQ(first->trace_hash(), again->trace_hash());
  EXPECT_EQ(first->trace(), again->trace());
  EXPECT_NE(first->trace_hash(), other->trace_hash());
  EXPECT_NE(first->trace_hash(), more->trace_hash());
  EXPECT_THAT(first->trace(), ::testing::Contains(HasSubstr("sync /a.db-wal")));
  EXPECT_THAT(first->coverage(), HasSubstr("power_failure"));
}

TEST(SimulatedDiskTest, a_crash_within_an_operation_is_before_its_success) {
  SimulatedDisk disk;
  {
    SqliteHandle file("a.db", disk.vfs());
    ASSERT_EQ(file.run(std::string(wal) + "CREATE TABLE t (v)"), SQLITE_OK);
    disk.crash_at(disk.operations() + 1);
    EXPECT_NE(file.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_TRUE(disk.is_down());
    SqliteHandle other("a.db", disk.vfs());
    EXPECT_EQ(other.run("SELECT 1 FROM t"), SQLITE_CANTOPEN) << "nothing opens before restart()";
    disk.restart();
  }
  SqliteHandle file("a.db", disk.vfs());
  EXPECT_EQ(file.ask("SELECT count(*) FROM t"), "0");
}

TEST(SimulatedDiskDeathTest, a_disk_does_not_end_before_its_files) {
  EXPECT_DEATH(
      {
        auto disk = std::make_unique<SimulatedDisk>();
        SqliteHandle file("a.db", disk->vfs());
        (void)file.run("CREATE TABLE t (v)");
        disk.reset();
      },
      "open_files");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
