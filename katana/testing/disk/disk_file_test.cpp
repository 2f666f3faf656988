// The pages of one file, without SQLite.
#include "katana/testing/disk/disk_file.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "katana/testing/disk/disk_locks.hpp"

namespace katana::testing::detail {
namespace {

std::string bytes_of(const DiskFile& file) {
  std::string bytes(static_cast<std::size_t>(file.size()), '?');
  file.read(bytes.data(), bytes.size(), 0);
  return bytes;
}

// The contents that crashes of every kind leave.
std::set<std::string> after_crashes(const DiskFile& file, CrashKind kind,
                                    std::size_t sector_bytes = 512) {
  std::set<std::string> all;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    CrashTally tally;
    const CrashPlan plan{.kind = kind, .moment = seed % 6, .sector_bytes = sector_bytes};
    all.insert(bytes_of(*file.after_crash(random, plan, tally)));
  }
  return all;
}

constexpr CrashKind kinds[] = {CrashKind::all_lost, CrashKind::all_kept, CrashKind::in_order,
                               CrashKind::by_page, CrashKind::by_sector};

TEST(DiskFileTest, bytes_that_were_synced_are_left_by_every_crash) {
  DiskFile file;
  file.write(std::string(10'000, 'a'), 0, 1);
  file.write("b", 4096, 2);
  file.sync();
  const std::string synced = bytes_of(file);
  for (const CrashKind kind : kinds) {
    EXPECT_EQ(after_crashes(file, kind), std::set<std::string>{synced});
  }
  file.write("c", 9'000, 3);  // in the last page
  for (const CrashKind kind : kinds) {
    for (const std::string& left : after_crashes(file, kind)) {
      EXPECT_EQ(left.substr(0, 8192), synced.substr(0, 8192));
    }
  }
}

TEST(DiskFileTest, a_crash_leaves_any_version_and_none_that_was_not_written) {
  DiskFile file;
  const std::string a(8192, 'a'), b(8192, 'b'), c(8192, 'c');
  file.write(a, 0, 1);
  file.sync();
  file.write(b, 0, 2);
  file.write(c, 0, 4);
  EXPECT_EQ(after_crashes(file, CrashKind::all_lost), std::set<std::string>{a});
  EXPECT_EQ(after_crashes(file, CrashKind::all_kept), std::set<std::string>{c});
  const auto pages = after_crashes(file, CrashKind::by_page);
  EXPECT_EQ(pages.size(), 9u) << "three versions of each of two pages";
  for (const std::string& left : after_crashes(file, CrashKind::by_sector)) {
    for (std::size_t at = 0; at < left.size(); at += 512) {
      EXPECT_EQ(left.substr(at, 512), std::string(512, left[at]));
      EXPECT_TRUE(left[at] >= 'a' && left[at] <= 'c');
    }
  }
  EXPECT_TRUE(after_crashes(file, CrashKind::in_order).contains(b));
}

TEST(DiskFileTest, a_truncation_is_volatile_and_what_grows_behind_it_is_zero) {
  DiskFile file;
  file.write(std::string(9'000, 'a'), 0, 1);
  file.sync();
  file.truncate(100, 2);
  file.write("b", 5'000, 3);
  EXPECT_EQ(bytes_of(file), std::string(100, 'a') + std::string(4'900, '\0') + "b");
  EXPECT_TRUE(after_crashes(file, CrashKind::all_lost).contains(std::string(9'000, 'a')));
  file.sync();
  EXPECT_EQ(after_crashes(file, CrashKind::by_sector), std::set<std::string>{bytes_of(file)});
}

TEST(DiskFileTest, a_failed_sync_leaves_pages_that_no_later_sync_writes) {
  int lost = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    DiskFile file;
    Random random(seed);
    file.write(std::string(4096, 'a'), 0, 1);
    file.sync();
    file.write(std::string(4096, 'b'), 0, 2);
    file.fail_sync(random, seed % 2 == 0);
    if (seed % 2 == 0) {
      EXPECT_EQ(bytes_of(file)[0], 'b') << "programs read it as before";
    }
    file.sync();
    const char left = (*after_crashes(file, CrashKind::all_kept).begin())[0];
    ++(left == 'a' ? lost : kept);
    if (seed % 2 == 1) {
      EXPECT_EQ(bytes_of(file)[0], left) << "programs read the disk's";
    }
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(kept, 0);
}

TEST(FileLocksTest, one_handle_writes_and_an_exclusive_one_is_alone) {
  const int first = 1, second = 2;
  constexpr int shared = 1, reserved = 2, pending = 3, exclusive = 4;  // SQLITE_LOCK_…
  FileLocks locks;
  EXPECT_EQ(locks.raise(&first, 0, shared), shared);
  EXPECT_EQ(locks.raise(&second, 0, shared), shared);
  EXPECT_EQ(locks.raise(&first, shared, reserved), reserved);
  EXPECT_EQ(locks.raise(&second, shared, reserved), shared) << "there is a writer";
  EXPECT_EQ(locks.raise(&first, reserved, exclusive), pending) << "there is a reader";
  EXPECT_EQ(locks.raise(&second, 0, shared), 0) << "no other may come";
  locks.lower(&second, shared, 0);
  EXPECT_EQ(locks.raise(&first, pending, exclusive), exclusive);
  locks.lower(&first, exclusive, 0);
  EXPECT_FALSE(locks.is_reserved());
  EXPECT_EQ(locks.raise(&second, 0, exclusive), exclusive);
}

TEST(SharedIndexTest, a_slot_has_readers_or_one_writer) {
  SharedIndex index;
  std::uint32_t shared[2] = {}, exclusive[2] = {};
  EXPECT_TRUE(index.lock(shared[0], exclusive[0], 3, 1, false));
  EXPECT_TRUE(index.lock(shared[1], exclusive[1], 3, 1, false));
  EXPECT_FALSE(index.lock(shared[0], exclusive[0], 2, 3, true));
  index.unlock(shared[1], exclusive[1], 3, 1);
  EXPECT_TRUE(index.lock(shared[1], exclusive[1], 4, 2, true));
  EXPECT_FALSE(index.lock(shared[0], exclusive[0], 5, 1, false));
  index.unlock(shared[1], exclusive[1], 0, SharedIndex::slots);
  EXPECT_TRUE(index.lock(shared[0], exclusive[0], 5, 1, false));
}

}  // namespace
}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
