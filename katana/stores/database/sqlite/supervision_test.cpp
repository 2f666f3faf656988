// A file that goes away, comes back, is replaced or is damaged while the database is in use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {
namespace {

using testing::HasSubstr;

class SupervisionTest : public testing::Test {
 protected:
  void SetUp() override {
    {
      Bare bare(path_);
      bare.run("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
      bare.run(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
          "INSERT INTO t SELECT i, hex(randomblob(100)) FROM n");
    }
    Options options;
    options.path = path_;
    options.cache_kib = 16;
    options.test_hooks = {&scene_.writer, &scene_.readers, [this] {
                            scene_.pass(look_);
                            return scene_.now();
                          }};
    auto created = Sqlite::create(options);
    ASSERT_TRUE(created) << created.error().describe();
    backend_ = created->get();
    db_.emplace(*std::move(created));
    EXPECT_EQ(write(1001), "done");
    EXPECT_EQ(read(1001), "1001");
    db_->backend().observe_outages([this](const Outage& outage) {
      told_.push_back(outage.why.empty() ? "over" : std::string(outage.why));
      EXPECT_EQ(outage.where, path_);
      lasted_ = outage.lasted;
    });
  }
  void TearDown() override { scene_.run(); }

  std::string write(std::int64_t id) {
    const auto body = [&]() -> Task<std::string> {
      const auto written =
          co_await db_->within(impatient_).execute("INSERT INTO t VALUES ($1, 'a')", id);
      co_return written ? std::string("done") : std::string(kind_name(written.error().kind()));
    };
    return finish(body());
  }
  std::string read(std::int64_t id) {
    const auto body = [&]() -> Task<std::string> {
      const auto found =
          co_await db_->query_one<std::int64_t>("SELECT id FROM t WHERE id = $1", id);
      if (!found) co_return std::string(kind_name(found.error().kind()));
      co_return *found ? std::to_string(**found) : "none";
    };
    return finish(body());
  }
  std::string finish(Task<std::string> task) {
    scene_.home.turn([&] { task.start(); });
    scene_.run();
    return task.result();
  }
  void probe() {
    scene_.pass(milliseconds(300));
    backend_->tick();
    scene_.run();
  }
  std::string health() const {
    const auto state = db_->health();
    return state ? "usable" : state.error().describe();
  }
  void move(const std::string& from, const std::string& to) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      if (!std::filesystem::exists(from + suffix)) continue;
      std::filesystem::rename(from + suffix, to + suffix);
    }
  }

  Folder folder_;
  const std::string path_ = folder_ / "a.db";
  Scene scene_{1};
  Duration look_ = {};  // what a look at the clock takes
  Duration impatient_ = seconds(30);
  std::vector<std::string> told_;
  Duration lasted_;
  Sqlite* backend_ = nullptr;
  std::optional<Database> db_;
};

TEST_F(SupervisionTest, a_file_that_vanishes_fails_calls_at_once_and_is_not_made_anew) {
  move(path_, folder_ / "away.db");
  EXPECT_EQ(write(1002), "unavailable") << "what went into a file without a name is refused";
  EXPECT_THAT(health(), HasSubstr("the file is gone"));
  EXPECT_EQ(read(1001), "unavailable");
  for (int round = 0; round < 3; ++round) probe();
  EXPECT_FALSE(std::filesystem::exists(path_)) << "an empty one would be worse than none";
  EXPECT_EQ(read(1001), "unavailable");
  EXPECT_GE(db_->statistics().refused_unusable, 2u);
  move(folder_ / "away.db", path_);
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_EQ(read(1001), "1001");
  EXPECT_EQ(write(1003), "done");
  EXPECT_EQ(db_->statistics().outages, 1u);
  EXPECT_THAT(told_, testing::ElementsAre("the file is gone", "over"));
  EXPECT_GE(lasted_, milliseconds(1200)) << "four probes";
}

TEST_F(SupervisionTest, who_observes_during_an_outage_is_told_at_once) {
  move(path_, folder_ / "away.db");
  probe();
  std::string why;
  db_->backend().observe_outages([&](const Outage& outage) { why = outage.why; });
  EXPECT_EQ(why, "the file is gone");
}

TEST_F(SupervisionTest, a_lock_that_another_process_keeps_is_told_and_reads_go_on) {
  Bare other(path_);
  other.run("BEGIN IMMEDIATE");
  look_ = milliseconds(5);        // who waits for a lock looks again and again
  impatient_ = milliseconds(50);  // calls give up long before busy_wait
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(write(1002), "timeout");
    EXPECT_EQ(health(), "usable") << "not for so long yet";
    scene_.pass(milliseconds(50));
  }
  for (int wait = 0; wait < 30; ++wait) probe();
  EXPECT_THAT(health(), HasSubstr("another process has held its lock for longer than 5000 ms"));
  EXPECT_FALSE(db_->statistics().usable);
  EXPECT_EQ(read(1001), "1001");
  impatient_ = seconds(30);
  const Instant before = scene_.now();
  EXPECT_EQ(write(1002), "unavailable");
  EXPECT_LT(scene_.now() - before, milliseconds(100)) << "it does not wait for a lock in vain";
  EXPECT_GE(db_->statistics().refused_unusable, 1u);
  const Instant probed = scene_.now();
  probe();
  EXPECT_LT(scene_.now() - probed, milliseconds(345)) << "a probe does not wait for the lock";
  other.run("ROLLBACK");
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_TRUE(db_->statistics().usable);
  EXPECT_EQ(write(1002), "done");
  EXPECT_THAT(told_, testing::ElementsAre(HasSubstr("nothing is written"), "over"));
}

TEST_F(SupervisionTest, a_file_that_vanishes_is_noticed_by_itself) {
  move(path_, folder_ / "away.db");
  probe();
  EXPECT_THAT(health(), HasSubstr("gone"));
  EXPECT_EQ(read(1001), "unavailable");
}

TEST_F(SupervisionTest, a_file_that_nobody_uses_is_not_looked_at_until_the_next_use) {
  const auto step = [&] {
    const Instant next = backend_->step();
    scene_.run();
    return next;
  };
  const Instant first = step();
  EXPECT_GT(first, scene_.now()) << "it was used";
  EXPECT_LE(first, scene_.now() + milliseconds(250));
  scene_.pass(milliseconds(100));
  EXPECT_NE(step(), never) << "a step for another reason is no look";
  scene_.pass(milliseconds(200));
  EXPECT_EQ(step(), never);
  EXPECT_EQ(read(1001), "1001");
  scene_.pass(milliseconds(300));
  EXPECT_NE(step(), never);
  scene_.pass(milliseconds(300));
  EXPECT_EQ(step(), never);
  // Lost during the rest: the first use has it looked at.
  scene_.pass(seconds(60));
  move(path_, folder_ / "away.db");
  (void)read(1001);
  step();
  EXPECT_EQ(read(1001), "unavailable");
  for (int round = 0; round < 5; ++round) {
    scene_.pass(milliseconds(300));
    EXPECT_NE(step(), never) << "a lost file is looked for";
  }
  move(folder_ / "away.db", path_);
  scene_.pass(milliseconds(300));
  step();
  EXPECT_EQ(read(1001), "1001");
}

TEST_F(SupervisionTest, a_transaction_is_awaited_until_exactly_its_time) {
  std::optional<Transaction> transaction;
  const auto begin = [&]() -> Task<std::string> {
    auto begun = co_await db_->begin();
    if (begun) transaction.emplace(*std::move(begun));
    co_return std::string(begun ? "begun" : "refused");
  };
  const Instant begun_at = scene_.now();
  EXPECT_EQ(finish(begin()), "begun");
  const Instant begun_by = scene_.now();
  Instant next = backend_->step();
  for (int steps = 0; steps < 3 && next < begun_at + seconds(1); ++steps) {
    scene_.pass(next - scene_.now());
    next = backend_->step();
  }
  EXPECT_GE(next, begun_at + Options().transaction_hold);
  EXPECT_LE(next, begun_by + Options().transaction_hold);
  scene_.pass(next - scene_.now());
  EXPECT_EQ(backend_->step(), never);
  scene_.run();
  EXPECT_EQ(db_->statistics().transactions_expired, 1u);
  transaction.reset();
}

TEST_F(SupervisionTest, a_file_that_is_replaced_is_opened_anew) {
  const std::string other = folder_ / "other.db";
  {
    Bare bare(other);
    bare.run("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
    bare.run("INSERT INTO t VALUES (5000, 'restored')");
  }
  move(path_, folder_ / "away.db");
  std::filesystem::rename(other, path_);
  EXPECT_EQ(write(1002), "unavailable");
  EXPECT_THAT(health(), HasSubstr("replaced"));
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_EQ(read(5000), "5000");
  EXPECT_EQ(read(1001), "none");
  EXPECT_EQ(write(5001), "done");
  EXPECT_EQ(Bare(folder_ / "away.db").one("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(Bare(path_).one("SELECT count(*) FROM t"), "2");
}

TEST_F(SupervisionTest, a_stream_of_a_file_that_was_replaced_leaves_the_log_of_the_new_file) {
  std::optional<Stream<std::int64_t>> stream;
  scene_.home.turn([&] {
    stream.emplace(db_->backend(), seconds(100),
                   Sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                       "SELECT i + (SELECT count(*) FROM t) FROM n"));
  });
  const auto next = [&]() -> Task<std::string> {
    const auto row = co_await stream->next();
    co_return row && *row ? std::to_string(**row) : "none";
  };
  EXPECT_EQ(finish(next()), "502");
  const std::string other = folder_ / "other.db";
  Bare(other).run("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
  move(path_, folder_ / "away.db");
  std::filesystem::rename(other, path_);
  probe();
  ASSERT_EQ(health(), "usable");
  EXPECT_EQ(write(7), "done");
  EXPECT_EQ(read(7), "7");
  ASSERT_TRUE(std::filesystem::exists(path_ + "-wal"));
  scene_.home.turn([&] { stream.reset(); });  // the last connection to the former file
  scene_.run();
  EXPECT_TRUE(std::filesystem::exists(path_ + "-wal"));
  EXPECT_EQ(open_files(folder_ / "away.db"), 0) << "and none of its connections is kept";
  EXPECT_EQ(Bare(path_).one("SELECT count(*) FROM t"), "1");
}

TEST_F(SupervisionTest, a_write_that_waits_while_the_file_is_found_gone_is_refused) {
  const auto body = [&]() -> Task<std::string> {
    const auto written = co_await db_->execute("INSERT INTO t VALUES (1002, 'a')");
    co_return written ? std::string("done") : std::string(kind_name(written.error().kind()));
  };
  auto waits = body();
  scene_.home.turn([&] { waits.start(); });
  move(path_, folder_ / "away.db");
  probe();
  ASSERT_TRUE(waits.done());
  EXPECT_EQ(waits.result(), "unavailable");
  move(folder_ / "away.db", path_);
  probe();
  EXPECT_EQ(read(1002), "none");
}

TEST_F(SupervisionTest, a_damaged_file_is_noticed_and_used_again_when_it_is_whole) {
  Bare(path_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::copy_file(path_, folder_ / "copy.db");
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    const std::string damage(4096 * 20, 'z');
    file.write(damage.data(), static_cast<std::streamsize>(damage.size()));
  }
  EXPECT_EQ(read(400), "unavailable");
  EXPECT_THAT(health(), HasSubstr("malformed"));
  for (int round = 0; round < 3; ++round) probe();
  EXPECT_NE(health(), "usable");
  std::filesystem::copy_file(folder_ / "copy.db", path_,
                             std::filesystem::copy_options::overwrite_existing);
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_EQ(read(400), "400");
  EXPECT_EQ(write(1004), "done");
}

TEST_F(SupervisionTest, a_file_that_is_no_database_any_more_is_an_outage_and_no_crash) {
  Bare(path_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::copy_file(path_, folder_ / "copy.db");
  std::ofstream(path_, std::ios::trunc) << "words";
  EXPECT_EQ(write(1002), "unavailable");
  probe();
  EXPECT_NE(health(), "usable");
  std::filesystem::copy_file(folder_ / "copy.db", path_,
                             std::filesystem::copy_options::overwrite_existing);
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_EQ(read(1001), "1001");
}

TEST_F(SupervisionTest, a_transaction_that_loses_its_file_is_over_and_holds_nobody_up) {
  std::optional<Transaction> transaction;
  const auto begin = [&]() -> Task<std::string> {
    auto begun = co_await db_->begin();
    if (begun) transaction.emplace(*std::move(begun));
    co_return std::string(begun ? "begun" : "refused");
  };
  const auto commit = [&]() -> Task<std::string> {
    const auto inserted = co_await transaction->execute("INSERT INTO t VALUES (2000, 'a')");
    const auto committed = co_await transaction->commit();
    co_return std::string(inserted ? "inserted, " : "refused, ") +
        std::string(committed ? "done" : kind_name(committed.error().kind()));
  };
  EXPECT_EQ(finish(begin()), "begun");
  move(path_, folder_ / "away.db");
  EXPECT_EQ(finish(commit()), "inserted, unavailable");
  move(folder_ / "away.db", path_);
  probe();
  EXPECT_EQ(health(), "usable");
  EXPECT_EQ(write(2001), "done");
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
