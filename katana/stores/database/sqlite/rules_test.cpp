// Tests of calls that are withdrawn, time out or wait, and of the figures that count them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/faulty_vfs_test.hpp"
#include "katana/stores/database/sqlite/sqlite_fixture_test.hpp"

namespace katana::database::sqlite {
namespace {

using testing::HasSubstr;

class SqliteRulesTest : public SqliteTest {
 protected:
  // Reads go to the pool.
  void open_pooled(Options options = {}) {
    options.reads_per_turn_max = 0;
    open(std::move(options));
  }
  std::optional<Transaction> hold(std::int64_t id = 1) {
    const auto body = [&]() -> Task<std::optional<Transaction>> {
      auto transaction = co_await db_->begin();
      if (!transaction) co_return std::nullopt;
      (void)co_await transaction->execute("INSERT INTO t VALUES ($1, $2)", id, std::to_string(id));
      co_return *std::move(transaction);
    };
    return run(body());
  }
  Statistics statistics() const { return backend_->statistics(); }
};

// ---- calls that are withdrawn

TEST_F(SqliteRulesTest, a_write_that_is_withdrawn_in_its_turn_does_nothing) {
  open();
  scene_.home.turn([&] {
    auto withdrawn = insert(1, "x");
    withdrawn.start();
  });
  scene_.run();
  EXPECT_EQ(text(run(count())), "0");
  EXPECT_EQ(text(run(insert(1, "y"))), "1");
}

TEST_F(SqliteRulesTest, a_write_that_is_withdrawn_while_it_waits_does_nothing_and_is_counted) {
  open();
  std::optional<Task<Result<std::int64_t>>> withdrawn = insert(1, "x");
  start(*withdrawn);  // handed over with the end of the turn
  EXPECT_EQ(statistics().writes_waiting, 1u);
  scene_.home.turn([&] { withdrawn.reset(); });
  EXPECT_EQ(statistics().writes_waiting, 0u);
  EXPECT_EQ(statistics().cancelled, 1u);
  scene_.run();
  EXPECT_EQ(text(run(count())), "0");
}

TEST_F(SqliteRulesTest, a_commit_or_rollback_that_is_withdrawn_rolls_back_and_holds_nobody_up) {
  open();
  for (const bool commits : {true, false}) {
    auto held = hold();
    ASSERT_TRUE(held);
    const auto end = [&]() -> Task<void> {
      if (commits) {
        (void)co_await held->commit();
      } else {
        (void)co_await held->rollback();
      }
    };
    std::optional<Task<void>> ending = end();
    start(*ending);
    scene_.home.turn([&] { ending.reset(); });
    scene_.run();
    EXPECT_EQ(text(run(count())), "0") << commits;
    auto next = insert(2, "free");
    start(next);
    scene_.run();
    ASSERT_TRUE(next.done()) << "the transaction is over";
    EXPECT_EQ(text(next.result()), "1");
    EXPECT_EQ(text(execute("DELETE FROM t")), "1");
  }
}

TEST_F(SqliteRulesTest, a_read_that_is_withdrawn_while_it_waits_is_counted) {
  open_pooled();
  std::optional<Task<Result<std::optional<std::int64_t>>>> withdrawn = count();
  start(*withdrawn);
  EXPECT_EQ(statistics().reads_waiting, 1u);
  EXPECT_EQ(statistics().readers_busy, 1u);
  scene_.home.turn([&] { withdrawn.reset(); });
  EXPECT_EQ(statistics().reads_waiting, 0u);
  EXPECT_EQ(statistics().cancelled, 1u);
  scene_.run();
  EXPECT_EQ(statistics().readers_busy, 0u);
  EXPECT_EQ(statistics().reads_pooled, 0u);
}

// ---- calls that wait for too long

TEST_F(SqliteRulesTest, a_read_that_waits_for_too_long_is_refused_or_has_timed_out) {
  Options options;
  options.wait_max = seconds(2);
  open_pooled(options);
  const auto read = [&](Duration timeout) -> Task<std::string> {
    const auto found = co_await db_->within(timeout).query_one<std::int64_t>("SELECT 1");
    co_return found ? "done" : std::string(kind_name(found.error().kind()));
  };
  auto patient = read(seconds(30)), impatient = read(seconds(1));
  scene_.home.turn([&] {
    patient.start();
    impatient.start();
  });
  scene_.pass(seconds(1));
  backend_->tick();
  EXPECT_EQ(statistics().timeouts, 1u);
  EXPECT_EQ(statistics().refused_waited, 0u);
  scene_.pass(seconds(1));
  backend_->tick();
  EXPECT_EQ(statistics().timeouts, 1u);
  EXPECT_EQ(statistics().refused_waited, 1u);
  scene_.run();
  EXPECT_EQ(impatient.result(), "timeout");
  EXPECT_EQ(patient.result(), "unavailable");
}

TEST_F(SqliteRulesTest, a_read_of_the_pool_that_runs_over_its_deadline_has_timed_out) {
  Options options;
  options.path = folder_ / "b.db";
  options.reads_per_turn_max = 0;
  std::int64_t now_ns = 1;
  // Each call of this clock takes a millisecond.
  options.test_hooks = {&scene_.writer, &scene_.readers,
                        [&] { return Instant{now_ns += 1'000'000}; }};
  auto created = Sqlite::create(options);
  ASSERT_TRUE(created);
  backend_ = created->get();
  db_.emplace(*std::move(created));
  const auto endless = [&]() -> Task<std::string> {
    const auto found = co_await db_->within(milliseconds(500))
                           .query_one<std::int64_t>(
                               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                               "SELECT count(*) FROM n");
    co_return found ? "done" : std::string(kind_name(found.error().kind()));
  };
  EXPECT_EQ(run(endless()), "timeout");
  EXPECT_EQ(statistics().timeouts, 1u);
}

TEST_F(SqliteRulesTest, statements_that_wait_in_a_transaction_fail_with_its_end) {
  Options options;
  options.transaction_hold = seconds(5);
  options.wait_max = seconds(30);
  open(options);
  auto held = hold();
  ASSERT_TRUE(held);
  const auto more = [&](std::int64_t id) -> Task<Result<std::int64_t>> {
    co_return co_await held->execute("INSERT INTO t VALUES ($1, 'more')", id);
  };
  auto first = more(2), second = more(3);
  scene_.home.turn([&] {
    first.start();
    second.start();
  });
  scene_.pass(seconds(6));
  backend_->tick();
  scene_.run();
  ASSERT_TRUE(first.done() && second.done());
  EXPECT_EQ(text(first.result()), "failed transaction");
  EXPECT_EQ(text(second.result()), "failed transaction");
  EXPECT_EQ(text(run(count())), "0");
}

TEST_F(SqliteRulesTest, a_transaction_does_not_begin_while_another_program_has_the_lock) {
  Options options;
  options.path = folder_ / "c.db";
  options.busy_wait = milliseconds(30);
  std::int64_t now_ns = 1;
  options.test_hooks = {&scene_.writer, &scene_.readers,
                        [&] { return Instant{now_ns += milliseconds(10).ns}; }};
  auto created = Sqlite::create(options);
  ASSERT_TRUE(created);
  backend_ = created->get();
  db_.emplace(*std::move(created));
  Bare other(options.path);
  other.run("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN IMMEDIATE");
  const auto begin = [&]() -> Task<std::string> {
    const auto begun = co_await db_->begin();
    co_return begun ? "begun" : std::string(kind_name(begun.error().kind()));
  };
  EXPECT_EQ(run(begin()), "busy");
  EXPECT_EQ(statistics().transactions, 0u);
  other.run("COMMIT");
}

TEST_F(SqliteRulesTest, a_lock_that_no_write_waits_for_is_no_outage) {
  Options options;
  options.probe_interval = milliseconds(100);
  options.busy_wait = milliseconds(300);
  open(options);
  Bare other(folder_ / "a.db");
  other.run("BEGIN IMMEDIATE");
  for (int round = 0; round < 20; ++round) {
    scene_.pass(milliseconds(100));
    backend_->tick();
    scene_.run();
    EXPECT_TRUE(db_->health()) << round;
  }
  other.run("COMMIT");
}

TEST_F(SqliteRulesTest, a_file_that_is_locked_at_the_start_may_be_free_later) {
  Options options;
  options.path = folder_ / "d.db";
  options.busy_wait = milliseconds(1);
  Bare other(options.path);
  other.run("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN EXCLUSIVE");
  const auto locked = sqlite::open(options);
  ASSERT_FALSE(locked);
  EXPECT_NE(locked.error().code(), Code::internal) << locked.error().describe();
  other.run("COMMIT");
  options.path = folder_.write("text.db", std::string(5000, 'x'));
  const auto none = sqlite::open(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::internal) << none.error().describe();
}

TEST_F(SqliteRulesTest, a_log_of_a_single_page_is_written_back_when_that_is_long) {
  Options options;
  options.checkpoint_pages = 1;
  open(options);
  ASSERT_EQ(text(execute("CREATE TABLE u (id INTEGER PRIMARY KEY)")), "0");
  const std::uint64_t before = statistics().checkpoints;
  EXPECT_EQ(text(execute("INSERT INTO u VALUES (1)")), "1");
  EXPECT_EQ(statistics().checkpoints, before + 1);
}

// ---- streams and snapshots

TEST_F(SqliteRulesTest, a_stream_that_could_not_begin_leaves_its_place_free) {
  Options options;
  options.streams_max = 1;
  open(options);
  const auto first_of = [&](const Sql& sql) -> Task<std::string> {
    Stream<std::int64_t> stream(db_->backend(), seconds(100), sql);
    const auto row = co_await stream.next();
    co_return row ? (*row ? std::to_string(**row) : "end")
                  : std::string(kind_name(row.error().kind()));
  };
  EXPECT_EQ(run(first_of("SELECT nothing FROM nowhere")), "syntax");
  EXPECT_EQ(run(first_of("DELETE FROM t")), "syntax") << "a stream reads";
  EXPECT_EQ(run(first_of("SELECT id FROM t")), "end");
  EXPECT_EQ(run(first_of("SELECT 7")), "7");
  EXPECT_EQ(statistics().streams_open, 0u);
}

// Turns of an executor that has more to do; a read of them does not leave it.
class BusyTurns final : public Executor {
 public:
  template <class F>
  void turn(F&& happens) {
    enter(this);
    std::forward<F>(happens)();
    end_turn(false);
    enter(nullptr);
  }
  void end() {
    enter(this);
    end_turn(true);
    enter(nullptr);
  }
  void post(Message&) noexcept override { ADD_FAILURE() << "a read left its executor"; }
};

class SnapshotRulesTest : public SqliteRulesTest {
 protected:
  void count_in_turn(int reads, std::int64_t expected) {
    turns_.turn([&] {
      for (int number = 0; number < reads; ++number) {
        auto task = count();
        EXPECT_TRUE(task.start());
        EXPECT_EQ(text(task.result()), std::to_string(expected));
      }
    });
  }
  BusyTurns turns_;
};

TEST_F(SnapshotRulesTest, reads_are_counted_for_each_turn_also_in_a_snapshot_that_is_kept) {
  Options options;
  options.reads_per_turn_max = 2;
  open(options);
  count_in_turn(2, 0);  // keeps the snapshot
  count_in_turn(1, 0);
  count_in_turn(2, 0);
  turns_.end();
}

TEST_F(SnapshotRulesTest, the_commit_of_a_transaction_is_seen_by_the_next_read) {
  open();
  count_in_turn(2, 0);  // keeps the snapshot
  auto held = hold();
  ASSERT_TRUE(held);
  count_in_turn(2, 0);
  const auto commit = [&]() -> Task<Result<std::int64_t>> { co_return co_await held->commit(); };
  ASSERT_TRUE(run(commit()));
  count_in_turn(2, 1);
  turns_.end();
}

// ---- a file that fails

class FaultyFileTest : public SqliteRulesTest {
 protected:
  void open_faulty(unsigned reads_per_turn_max) {
    faults().disarm();
    Options options;
    options.path = folder_ / "e.db";
    options.vfs = "katana-faulty";
    options.cache_kib = 16;
    options.reads_per_turn_max = reads_per_turn_max;
    options.probe_interval = milliseconds(40);
    options.test_hooks = {&scene_.writer, &scene_.readers, scene_.clock()};
    auto created = Sqlite::create(options);
    ASSERT_TRUE(created) << created.error().describe();
    backend_ = created->get();
    db_.emplace(*std::move(created));
    ASSERT_EQ(text(execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")), "0");
  }
  void TearDown() override {
    faults().disarm();
    SqliteRulesTest::TearDown();
  }
};

TEST_F(FaultyFileTest, a_read_of_the_pool_that_finds_the_file_broken_is_an_outage) {
  open_faulty(0);
  for (int id = 0; id < 200; ++id) {
    ASSERT_EQ(text(run(insert(id, std::string(700, 'x')))), "1");
  }
  ASSERT_EQ(text(run(count())), "200");  // the schema is known from here on
  faults().arm(Fault::read_error, 1, true);
  std::string failure;
  for (int round = 0; round < 5 && failure.empty(); ++round) {
    const auto found = run(count());
    if (!found) failure = found.error().describe();
  }
  EXPECT_THAT(failure, HasSubstr("not usable at present"));
  EXPECT_FALSE(db_->health());
  EXPECT_EQ(statistics().outages, 1u);
}

TEST_F(FaultyFileTest, a_write_that_was_at_fault_itself_is_told_so_when_its_group_is_lost) {
  open_faulty(100);
  ASSERT_EQ(text(run(insert(1, "a"))), "1");
  auto good = insert(2, "b"), bad = insert(1, "again");
  faults().arm(Fault::full, 1, true);
  scene_.home.turn([&] {
    good.start();
    bad.start();
  });
  scene_.run();
  ASSERT_TRUE(good.done() && bad.done());
  EXPECT_EQ(text(good.result()), "unavailable");
  EXPECT_EQ(text(bad.result()), "constraint violation");
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
