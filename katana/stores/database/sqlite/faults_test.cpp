// Whatever the disk does, an acknowledged write is durable. It survives a loss of power right
// afterwards, on a disk that loses all data that was not flushed.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/faulty_vfs_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {
namespace {

class Disk {
 public:
  explicit Disk(std::uint64_t seed, Durability durability = Durability::full)
      : scene_(seed, milliseconds(2)) {
    faults().disarm();
    Options options;
    options.path = path_;
    options.durability = durability;
    options.vfs = "katana-faulty";
    options.checkpoint_pages = 30;
    options.cache_kib = 64;
    options.probe_interval = milliseconds(40);
    options.test_hooks = {&scene_.writer, &scene_.readers, scene_.clock()};
    auto created = Sqlite::create(options);
    EXPECT_TRUE(created) << created.error().describe();
    backend_ = created->get();
    db_.emplace(*std::move(created));
    EXPECT_TRUE(finish(create()));
  }

  // `callers` at once write `rounds` times each.
  void write(int callers, int rounds) {
    std::vector<Task<void>> tasks;
    for (int caller = 0; caller < callers; ++caller) tasks.push_back(call(rounds));
    for (Task<void>& task : tasks) scene_.home.turn([&] { task.start(); });
    while (!all_done(tasks)) {
      if (!scene_.idle()) scene_.step();
      if (scene_.idle() || scene_.random() % 8 == 0) tick();
    }
  }
  void tick() {
    scene_.pass(milliseconds(50));
    backend_->tick();
    scene_.run();
  }
  Sqlite& backend() { return *backend_; }
  template <class T>
  T finish(Task<T> task) {
    scene_.home.turn([&] { task.start(); });
    scene_.run();
    return task.result();
  }
  Task<bool> add(std::int64_t id) {
    const auto written =
        co_await db_->execute("INSERT INTO t VALUES ($1, $2)", id, std::string(700, 'x'));
    co_return bool(written);
  }
  Task<bool> read() {
    co_return bool(co_await db_->query_one<std::int64_t>("SELECT count(*) FROM t"));
  }

  // All data that is not flushed is lost; acknowledged writes have to be there.
  void cut_power_and_compare() {
    faults().disarm();
    faults().power_off();
    scene_.run();
    db_.reset();
    faults().lose_unflushed(path_);
    Bare bare(path_);
    EXPECT_EQ(bare.one("PRAGMA integrity_check"), "ok");
    const auto there = bare.list("SELECT id FROM t");
    lost = 0;
    for (const std::int64_t id : acknowledged) lost += there.count(std::to_string(id)) == 1 ? 0 : 1;
  }

  std::set<std::int64_t> acknowledged;
  int refused = 0;
  int lost = 0;
  std::string path() const { return path_; }

 private:
  Task<bool> create() {
    co_return bool(co_await db_->execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"));
  }
  Task<void> call(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t id = ++last_id_;
      if (co_await add(id)) {
        acknowledged.insert(id);
      } else {
        ++refused;
      }
    }
  }
  static bool all_done(const std::vector<Task<void>>& tasks) {
    for (const Task<void>& task : tasks) {
      if (!task.done()) return false;
    }
    return true;
  }

  Folder folder_;
  const std::string path_ = folder_ / "disk.db";
  Scene scene_;
  Sqlite* backend_ = nullptr;
  std::optional<Database> db_;
  std::int64_t last_id_ = 0;
};

class DiskFaults : public testing::TestWithParam<Fault> {};

TEST_P(DiskFaults, an_acknowledged_write_is_durable_and_any_other_was_refused) {
  const std::uint64_t before = faults().struck();
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Disk disk(seed);
    disk.write(8, 2);
    faults().arm(GetParam(), 1 + static_cast<int>(seed * 7 % 40), seed % 3 == 0);
    disk.write(8, 4);
    faults().disarm();
    for (int wait = 0; wait < 20 && !disk.backend().health(); ++wait) disk.tick();
    EXPECT_TRUE(disk.backend().health()) << "it recovers alone, seed " << seed;
    const std::size_t acknowledged = disk.acknowledged.size();
    disk.write(8, 2);
    EXPECT_EQ(disk.acknowledged.size(), acknowledged + 16) << "seed " << seed;
    refused += disk.refused;
    disk.cut_power_and_compare();
    EXPECT_EQ(disk.lost, 0) << "seed " << seed;
  }
  EXPECT_GT(faults().struck(), before) << "the fault was never met";
  EXPECT_GT(refused, 0);
}
INSTANTIATE_TEST_SUITE_P(Kinds, DiskFaults,
                         testing::Values(Fault::short_write, Fault::write_error, Fault::full,
                                         Fault::sync_error, Fault::read_only));

TEST(DiskFaults, power_that_is_cut_at_any_moment_takes_no_acknowledged_write) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Disk disk(seed);
    disk.write(1 + static_cast<int>(seed % 16), 5);
    disk.cut_power_and_compare();
    EXPECT_EQ(disk.lost, 0) << "seed " << seed;
  }
}

TEST(DiskFaults, this_disk_shows_what_synchronous_normal_can_lose) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Disk disk(seed, Durability::normal);
    disk.write(
        8, 20 + static_cast<int>(seed));  // beyond the first checkpoint, which flushes the table
    disk.cut_power_and_compare();
    lost += disk.lost;
  }
  EXPECT_GT(lost, 0) << "or the tests above would pass without a flush";
}

TEST(DiskFaults, a_disk_that_is_full_or_read_only_is_an_outage_that_is_told_until_it_is_over) {
  for (const auto& [fault, word] :
       {std::pair(Fault::full, "full"), std::pair(Fault::read_only, "readonly")}) {
    Disk disk(5);
    std::vector<std::string> told;
    disk.backend().observe_outages(
        [&](const Outage& outage) { told.push_back(std::string(outage.why)); });
    faults().arm(fault, 1, true);
    disk.write(1, 1);
    for (int wait = 0; wait < 5; ++wait) disk.tick();
    const auto health = disk.backend().health();
    ASSERT_FALSE(health) << word;
    EXPECT_TRUE(health.error().describe().contains(word)) << health.error().describe();
    EXPECT_FALSE(disk.backend().statistics().usable);
    faults().disarm();
    for (int wait = 0; wait < 20 && !disk.backend().health(); ++wait) disk.tick();
    EXPECT_TRUE(disk.backend().health());
    ASSERT_EQ(told.size(), 2u) << word;
    EXPECT_TRUE(told[0].contains(word)) << told[0];
    EXPECT_EQ(told[1], "");
    EXPECT_EQ(disk.backend().statistics().outages, 1u);
  }
}

TEST(DiskFaults, a_checkpoint_that_cannot_flush_is_an_outage) {
  for (const auto& [fault, outages] :
       {std::pair(Fault::sync_error, 1u), std::pair(Fault::none, 0u)}) {
    Disk disk(4, Durability::normal);  // flushes in checkpoints alone
    disk.write(8, 1);
    faults().arm(fault, 1);
    disk.write(8, 10);
    EXPECT_EQ(disk.backend().statistics().outages, outages);
    for (int wait = 0; wait < 20 && !disk.backend().health(); ++wait) disk.tick();
    EXPECT_TRUE(disk.backend().health());
  }
}

TEST(DiskFaults, a_page_that_cannot_be_read_fails_the_read_and_not_the_process) {
  Disk disk(3);
  disk.write(8, 40);  // more than a connection keeps
  faults().arm(Fault::read_error, 1, true);
  bool failed = false;
  for (int round = 0; round < 5 && !failed; ++round) failed = !disk.finish(disk.read());
  EXPECT_TRUE(failed);
  faults().disarm();
  for (int wait = 0; wait < 20 && !disk.backend().health(); ++wait) disk.tick();
  EXPECT_TRUE(disk.finish(disk.read()));
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
