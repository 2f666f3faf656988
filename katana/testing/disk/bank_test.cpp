// A bank on a disk that crashes at any operation. The sum stays, and acknowledged transfers too.
#include "katana/testing/disk/bank_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace katana::testing {
namespace {

using database::Durability;
using ::testing::HasSubstr;

// The outcome of the lives of one bank.
struct Lives {
  std::string broken;
  int acknowledged = 0;
  int refused = 0;
  int lost = 0;
  std::uint64_t trace = 0;
  std::string coverage;
};

// Five lives of one file, each ended by a crash at an operation that the seed draws.
Lives live(std::uint64_t seed, BankOptions options = {}) {
  options.disk.rot_per_1024 = seed % 3 == 0 ? 64 : 0;
  options.disk.powersafe_overwrite = seed % 4 != 0;
  Bank bank(seed, std::move(options));
  Lives lives;
  for (int life = 0; life < 5 && lives.broken.empty(); ++life) {
    SimulatedDisk& disk = bank.scene.disk;
    disk.crash_at(disk.operations() + 1 + bank.scene.below(life == 0 ? 60 : 250));
    if (bank.open()) bank.transfer(1 + static_cast<int>(bank.scene.below(10)), 6);
    if (bank.scene.below(4) == 0 && !disk.is_down()) disk.end_process();
    bank.scene.restart();
    lives.broken = bank.compare();
  }
  lives.acknowledged = bank.acknowledged;
  lives.refused = bank.refused;
  lives.lost = bank.lost;
  lives.trace = bank.scene.disk.trace_hash();
  lives.coverage = bank.scene.disk.coverage();
  return lives;
}

TEST(BankTest, keeps_each_acknowledged_transfer_through_a_crash_at_any_operation) {
  int acknowledged = 0;
  for (const std::uint64_t seed : seeds(25)) {
    const Lives lives = live(seed);
    ASSERT_EQ(lives.broken, "") << "seed " << seed;
    acknowledged += lives.acknowledged;
  }
  EXPECT_GT(acknowledged, 0);
}

TEST(BankTest, loses_with_synchronous_normal_the_latest_transfers_and_never_leaves_a_hole) {
  int lost = 0;
  for (const std::uint64_t seed : seeds(25)) {
    const Lives lives = live(seed, {.durability = Durability::normal});
    ASSERT_EQ(lives.broken, "") << "seed " << seed;
    lost += lives.lost;
  }
  EXPECT_GT(lost, 0) << "or the test above would pass without a sync";
}

TEST(BankTest, on_a_disk_that_lies_is_found_to_lose_transfers) {
  int found = 0;
  for (const std::uint64_t seed : seeds(25)) {
    found += live(seed, {.disk = {.ignores_sync = true}}).broken.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

TEST(BankTest, that_acknowledges_before_the_commit_is_found_out) {
  int found = 0;
  for (const std::uint64_t seed : seeds(25)) {
    const Lives lives = live(seed, {.acknowledges_early = true});
    found += lives.broken.contains("was acknowledged, and is lost") ? 1 : 0;
  }
  EXPECT_GT(found, 0);
}

TEST(BankTest, has_one_trace_for_each_seed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Lives first = live(seed), again = live(seed);
    EXPECT_EQ(first.trace, again.trace) << seed;
    EXPECT_EQ(first.coverage, again.coverage) << seed;
    EXPECT_EQ(first.acknowledged, again.acknowledged) << seed;
  }
  EXPECT_NE(live(1).trace, live(2).trace);
}

std::uint64_t drawn_times(DiskScene& scene) {
  return scene.below(4) == 0 ? disk_fault_always : 1 + scene.below(4);
}

// Errors of the disk while the bank works, and a crash in the end.
Lives live_with_errors(std::uint64_t seed, Durability durability = Durability::full) {
  Bank bank(seed, {.durability = durability});
  DiskScene& scene = bank.scene;
  Lives lives;
  EXPECT_TRUE(bank.open()) << scene.refusal();
  for (int life = 0; life < 4 && lives.broken.empty(); ++life) {
    bank.transfer(1 + static_cast<int>(scene.below(8)), 2);
    const auto fault = static_cast<DiskFault>(scene.below(3));
    const std::string_view suffix = scene.below(3) == 0 ? "-wal" : "";
    scene.disk.fail(fault, 1 + scene.below(30), drawn_times(scene), suffix);
    if (scene.below(4) == 0) {
      scene.disk.set_capacity(scene.disk.file_bytes(DiskScene::path) + scene.below(20) * 4096);
    }
    bank.transfer(1 + static_cast<int>(scene.below(8)), 4);
    for (std::uint64_t looks = scene.below(4); looks > 0; --looks) scene.tick();
    scene.disk.heal();
    if (!scene.recover()) lives.broken = "it does not recover";
    // A failed sync may undo the latest transfers, as a crash: their places are free again.
    if (durability != Durability::full) lives.broken += bank.compare(false);
    const int before = bank.acknowledged;
    bank.transfer(8, 3);
    if (bank.acknowledged == before) lives.broken += "no transfer after the recovery";
    if (scene.below(2) == 0) continue;
    scene.restart();
    lives.broken += bank.compare();
    if (!bank.open()) lives.broken += "it does not open: " + scene.refusal();
  }
  scene.restart();
  lives.broken += bank.compare();
  lives.coverage = scene.disk.coverage();
  lives.refused = bank.refused;
  if (!lives.broken.empty()) {
    for (const std::string& line : scene.disk.trace()) lives.coverage += "\n" + line;
  }
  return lives;
}

TEST(BankTest, survives_errors_of_the_disk_and_a_crash_behind_them) {
  int refused = 0;
  for (const std::uint64_t seed : seeds(25)) {
    const Lives lives = live_with_errors(seed);
    ASSERT_EQ(lives.broken, "") << "seed " << seed << ": " << lives.coverage;
    refused += lives.refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(BankTest, is_whole_after_errors_of_the_disk_with_synchronous_normal) {
  for (const std::uint64_t seed : seeds(25)) {
    const Lives lives = live_with_errors(seed, Durability::normal);
    ASSERT_EQ(lives.broken, "") << "seed " << seed << ": " << lives.coverage;
  }
}

// A failed sync leaves pages that programs read, and that no later sync writes. Commits that follow
// them in the log are behind a hole after a crash.
TEST(BankTest, keeps_what_it_acknowledges_behind_syncs_that_failed) {
  int acknowledged = 0;
  for (const std::uint64_t seed : seeds(60)) {
    Bank bank(seed, {.writes_only = seed % 8 != 0});
    DiskScene& scene = bank.scene;
    ASSERT_TRUE(bank.open());
    bank.transfer(3, 1);
    scene.disk.fail(DiskFault::sync_error, 1, 1 + seed % 4, "-wal");
    bank.transfer(2, 1);
    ASSERT_EQ(scene.backend().statistics().outages, 1u);
    if (seed % 2 == 0) {
      ASSERT_TRUE(scene.recover());
    } else {
      scene.disk.end_process();
      scene.disk.heal();
      scene.restart();
      ASSERT_TRUE(bank.open()) << scene.refusal();
    }
    const int before = bank.acknowledged;
    bank.transfer(3, 1);
    acknowledged += bank.acknowledged - before;
    scene.disk.crash();
    scene.restart();
    ASSERT_EQ(bank.compare(), "") << "seed " << seed << scene.disk.coverage();
  }
  EXPECT_GT(acknowledged, 0);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
