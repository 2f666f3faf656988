// The whole database under seeds. Callers of two executors write, read, stream, hold transactions
// and are cancelled, while every message takes a random time.
//
// These rules hold for each seed: a write that was acknowledged is there, at once and at the end.
// A write that failed with an error is not there. No call waits for ever. The same seed gives the
// same run.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {
namespace {

enum class Fate : std::uint8_t { unknown, done, refused };

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : scene_(seed, milliseconds(1 + static_cast<int>(seed % 20))) {
    Options options;
    options.path = folder_ / "trial.db";
    options.durability = Durability::normal;
    options.readers = 1 + static_cast<unsigned>(seed % 3);
    options.group_max = 1 + seed % 40;
    options.streams_max = 2;
    options.writes_waiting_max = seed % 4 == 0 ? 5 : 100;
    options.wait_max = milliseconds(60);
    options.transaction_hold = milliseconds(80);
    options.stream_idle = milliseconds(50);
    options.reads_per_turn_max = 1 + static_cast<std::uint32_t>(seed % 7);
    options.test_hooks = {&scene_.writer, &scene_.readers, scene_.clock()};
    auto created = Sqlite::create(options);
    EXPECT_TRUE(created);
    backend_ = created->get();
    db_.emplace(*std::move(created));
    Bare(options.path).run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)");
  }

  void run(int callers) {
    std::vector<std::unique_ptr<Task<void>>> tasks;
    for (int caller = 0; caller < callers; ++caller) {
      tasks.push_back(std::make_unique<Task<void>>(call(caller)));
      home_of(caller).turn([&] { tasks.back()->start(); });
    }
    for (int steps = 0; !finished(tasks); ++steps) {
      ASSERT_LT(steps, 100'000) << "somebody waits for ever";
      if (scene_.idle() || steps % 16 == 0) {
        scene_.pass(milliseconds(20));
        backend_->tick();
      }
      if (!scene_.idle()) scene_.step();
      if (scene_.random() % 64 == 0) {
        const auto victim = static_cast<int>(scene_.random() % static_cast<std::uint64_t>(callers));
        // The call is cancelled: its result is unknown.
        home_of(victim).turn([&] { tasks[static_cast<std::size_t>(victim)].reset(); });
      }
    }
    for (int caller = 0; caller < callers; ++caller) {
      home_of(caller).turn([&] { tasks[static_cast<std::size_t>(caller)].reset(); });
    }
    scene_.run();
    EXPECT_EQ(scene_.home.expected() + scene_.other_home.expected(), 0u);
    statistics = backend_->statistics();
    EXPECT_EQ(statistics.streams_open, 0u);
    EXPECT_EQ(statistics.writes_waiting + statistics.reads_waiting + statistics.readers_busy, 0u);
    db_.reset();
    compare();
  }

  std::uint64_t trace() const { return scene_.trace; }
  Statistics statistics;
  int done = 0;
  int refused = 0;

 private:
  Scene::Actor& home_of(int caller) { return caller % 2 == 0 ? scene_.home : scene_.other_home; }
  static bool finished(const std::vector<std::unique_ptr<Task<void>>>& tasks) {
    for (const auto& task : tasks) {
      if (task && !task->done()) return false;
    }
    return true;
  }

  Task<void> call(int caller) {
    for (int round = 0; round < 6; ++round) {
      const std::int64_t id = 1000 * caller + 10 * round;
      switch (scene_.random() % 6) {
        case 0: co_await scope(id); break;
        case 1: co_await stream(); break;
        default: co_await write(id);
      }
    }
  }

  template <class R>
  void note(std::int64_t id, const Result<R>& result) {
    fates_[id] = result ? Fate::done : Fate::refused;
    ++(result ? done : refused);
  }

  Task<bool> sees(std::int64_t id) {
    const auto found = co_await db_->query_one<std::int64_t>("SELECT id FROM t WHERE id = $1", id);
    // A read may be refused; it may not be wrong.
    co_return !found || found->has_value();
  }

  Task<void> write(std::int64_t id) {
    fates_[id] = Fate::unknown;
    // One row in eight has a value that another row may have, too.
    const std::string value = std::to_string(scene_.random() % 8 == 0 ? 0 : id);
    const auto quick = db_->within(milliseconds(1 + static_cast<int>(scene_.random() % 100)));
    const auto written = co_await quick.execute("INSERT INTO t VALUES ($1, $2)", id, value);
    note(id, written);
    if (written) {
      EXPECT_TRUE(co_await sees(id)) << id;
    }
  }

  Task<void> scope(std::int64_t id) {
    auto transaction = co_await db_->begin();
    if (!transaction) co_return;
    std::set<std::int64_t> ids;
    for (std::int64_t more = 0; more < 3; ++more) {
      fates_[id + more] = Fate::unknown;
      const auto written =
          co_await transaction->execute("INSERT INTO t VALUES ($1, $2)", id + more, id + more);
      if (!written) {
        for (std::int64_t undone = 0; undone <= more; ++undone) fates_[id + undone] = Fate::refused;
        co_return;
      }
    }
    const auto committed = co_await transaction->commit();
    for (std::int64_t more = 0; more < 3; ++more) note(id + more, committed);
    if (committed) {
      EXPECT_TRUE(co_await sees(id + 2)) << id;
    }
  }

  Task<void> stream() {
    auto rows = db_->stream<std::int64_t>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
        "SELECT i FROM n");
    std::int64_t expected = 1;
    while (true) {
      const auto row = co_await rows.next();
      if (!row || !*row) break;
      EXPECT_EQ(**row, expected);
      ++expected;
      if (scene_.random() % 512 == 0) co_return;  // left in the midst
    }
  }

  void compare() {
    Bare bare(folder_ / "trial.db");
    EXPECT_EQ(bare.one("PRAGMA integrity_check"), "ok");
    const auto there = bare.list("SELECT id FROM t");
    for (const auto& [id, fate] : fates_) {
      if (fate == Fate::unknown) continue;
      EXPECT_EQ(there.count(std::to_string(id)), fate == Fate::done ? 1u : 0u) << id;
    }
  }

  Folder folder_;
  Scene scene_;
  Sqlite* backend_ = nullptr;
  std::optional<Database> db_;
  std::map<std::int64_t, Fate> fates_;
};

class SimulatedDatabase : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulatedDatabase, who_was_told_done_finds_it_done_and_who_was_refused_finds_nothing) {
  Trial trial(GetParam());
  trial.run(12);
  EXPECT_GT(trial.done, 0);
}
INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedDatabase, testing::Range<std::uint64_t>(1, 41));

TEST(SimulatedDatabase, the_same_seed_is_the_same_run) {
  Trial first(7), second(7);
  first.run(12);
  second.run(12);
  EXPECT_EQ(first.trace(), second.trace());
  EXPECT_EQ(first.done, second.done);
}

TEST(SimulatedDatabase, the_seeds_reach_what_can_go_wrong) {
  Statistics sum;
  int refused = 0;
  for (std::uint64_t seed = 100; seed < 116; ++seed) {
    Trial trial(seed);
    trial.run(12);
    refused += trial.refused;
    sum.transactions_expired += trial.statistics.transactions_expired;
    sum.refused_waited += trial.statistics.refused_waited;
    sum.refused_full += trial.statistics.refused_full;
    sum.timeouts += trial.statistics.timeouts;
    sum.cancelled += trial.statistics.cancelled;
    sum.commits += trial.statistics.commits;
    sum.writes += trial.statistics.writes;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(sum.refused_waited, 0u);
  EXPECT_GT(sum.refused_full, 0u);
  EXPECT_GT(sum.timeouts, 0u);
  EXPECT_GT(sum.cancelled, 0u);
  EXPECT_GT(sum.writes, sum.commits) << "some commits are shared";
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
