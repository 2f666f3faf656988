#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/base/system/signal_masks_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite_fixture_test.hpp"

namespace katana::database::sqlite {
namespace {

using testing::HasSubstr;

struct Pair {
  std::int64_t a = 0;
  std::int64_t b = 0;
};
KATANA_DESCRIBE(Pair, a, b)
struct OnlyB {
  std::int64_t b = 0;
};
KATANA_DESCRIBE(OnlyB, b)

TEST_F(SqliteTest, an_option_that_is_wrong_is_named) {
  const auto message = [](const Options& options) {
    const auto opened = sqlite::open(options);
    return opened ? std::string("opened") : opened.error().describe();
  };
  EXPECT_THAT(message({}), HasSubstr("'path'"));
  EXPECT_THAT(message({.path = "x.db", .readers = 0}), HasSubstr("'readers' is 1 to 256"));
  EXPECT_THAT(message({.path = folder_ / "no/such/folder.db"}), HasSubstr("no/such/folder.db"));
  EXPECT_THAT(message({.path = folder_ / "none.db", .create = false}), HasSubstr("none.db"));
  EXPECT_THAT(message({.path = "a.db", .vfs = "no-such"}),
              HasSubstr("SQLite has no VFS 'no-such'"));
  EXPECT_THAT(message({.path = ":memory:", .vfs = "unix"}),
              HasSubstr("'vfs' is not for ':memory:'"));
  const std::string words = folder_.write("words.db", "this is no database, however long it is");
  EXPECT_THAT(message({.path = words}), HasSubstr("not a database"));
}

TEST_F(SqliteTest, reads_of_one_turn_share_one_snapshot_and_none_leaves_the_reactor) {
  open();
  const std::uint64_t before = backend_->statistics().snapshots;
  const auto body = [this]() -> Task<void> {
    for (int round = 0; round < 10; ++round)
      (void)co_await db_->query_one<std::int64_t>("SELECT id FROM t WHERE id = $1", round);
  };
  for (int turn = 0; turn < 3; ++turn) {
    auto task = body();
    start(task);
    EXPECT_TRUE(task.done());
  }
  EXPECT_EQ(backend_->statistics().snapshots - before, 3u);
  EXPECT_EQ(backend_->statistics().reads_here, 30u);
  EXPECT_EQ(backend_->statistics().reads_pooled, 0u);
}

TEST_F(SqliteTest, a_read_over_its_budget_goes_to_the_pool_and_is_remembered) {
  Options options;
  options.path = folder_ / "b.db";
  options.slow_reads_remembered = 2;
  options.read_budget = nanoseconds(1);
  std::int64_t now_ns = 1;
  // Each call of this clock takes a millisecond.
  options.test_hooks = {&scene_.writer, &scene_.readers,
                        [&] { return Instant{now_ns += 1'000'000}; }};
  auto created = Sqlite::create(options);
  ASSERT_TRUE(created);
  backend_ = created->get();
  db_.emplace(*std::move(created));
  for (int round = 0; round < 4; ++round) EXPECT_EQ(text(run(slow_count(9'000))), "9000");
  EXPECT_EQ(backend_->statistics().reads_moved, 2u) << "first, and after two that went at once";
  EXPECT_EQ(backend_->statistics().reads_pooled, 4u);
  EXPECT_EQ(text(run(slow_count(10))), "10");
}

TEST_F(SqliteTest, a_turn_with_very_many_reads_lets_others_in) {
  Options options;
  options.reads_per_turn_max = 5;
  open(options);
  const auto body = [this]() -> Task<int> {
    int good = 0;
    for (int round = 0; round < 12; ++round) {
      const auto found = co_await db_->query_one<std::int64_t>("SELECT $1", round);
      good += found && *found && **found == round ? 1 : 0;
    }
    co_return good;
  };
  EXPECT_EQ(run(body()), 12);
  EXPECT_EQ(backend_->statistics().reads_here, 10u);
  EXPECT_EQ(backend_->statistics().reads_pooled, 2u);
}

TEST_F(SqliteTest, writes_of_one_turn_share_one_commit_and_one_that_fails_is_alone) {
  open();
  const std::uint64_t before = backend_->statistics().commits;
  std::vector<Task<Result<std::int64_t>>> tasks;
  for (int id = 0; id < 20; ++id) tasks.push_back(insert(id % 15, std::to_string(id)));
  scene_.home.turn([&] {
    for (auto& task : tasks) task.start();
  });
  scene_.run();
  int good = 0;
  for (auto& task : tasks) good += task.result() ? 1 : 0;
  EXPECT_EQ(good, 15);
  EXPECT_EQ(backend_->statistics().commits - before, 1u);
  EXPECT_EQ(text(run(count())), "15");
}

TEST_F(SqliteTest, a_write_that_breaks_the_group_is_left_out_and_the_others_are_done) {
  open();
  EXPECT_EQ(text(execute("CREATE TABLE owned (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES "
                         "t (id) DEFERRABLE INITIALLY DEFERRED)")),
            "0");
  const auto rolls_back = [this]() -> Task<Result<std::int64_t>> {
    co_return co_await db_->execute("INSERT OR ROLLBACK INTO t VALUES (1, 'again')");
  };
  const auto deferred = [this]() -> Task<Result<std::int64_t>> {
    co_return co_await db_->execute("INSERT INTO owned VALUES (1, 99)");
  };
  std::vector<Task<Result<std::int64_t>>> tasks;
  tasks.push_back(insert(1, "a"));
  tasks.push_back(rolls_back());
  tasks.push_back(insert(2, "b"));
  tasks.push_back(deferred());
  tasks.push_back(insert(3, "c"));
  scene_.home.turn([&] {
    for (auto& task : tasks) task.start();
  });
  scene_.run();
  EXPECT_EQ(text(tasks[0].result()), "1");
  EXPECT_EQ(text(tasks[1].result()), "constraint violation");
  EXPECT_EQ(text(tasks[2].result()), "1");
  EXPECT_EQ(text(tasks[3].result()), "constraint violation");
  EXPECT_EQ(text(tasks[4].result()), "1");
  EXPECT_EQ(backend_->statistics().groups_redone, 2u);
  EXPECT_EQ(text(run(count())), "3");
}

class BrokenGroup : public SqliteTest {
 protected:
  struct Spent {
    std::uint64_t runs, commits;
  };
  Task<Result<std::int64_t>> owned(std::int64_t id, std::int64_t owner) {
    co_return co_await db_->execute("INSERT INTO owned VALUES ($1, $2)", id, owner);
  }
  Task<Result<std::int64_t>> rolls_back(std::int64_t id) {
    co_return co_await db_->execute("INSERT OR ROLLBACK INTO t VALUES (0, $1)", id);
  }
  Spent run_all(std::vector<Task<Result<std::int64_t>>>& tasks) {
    const Statistics before = backend_->statistics();
    scene_.home.turn([&] {
      for (auto& task : tasks) task.start();
    });
    scene_.run();
    const Statistics after = backend_->statistics();
    return {after.writes_run - before.writes_run, after.commits - before.commits};
  }
};

TEST_F(BrokenGroup, runs_each_write_a_bounded_number_of_times_whatever_breaks_it) {
  open();
  ASSERT_EQ(text(run(insert(0, "first"))), "1");
  std::vector<Task<Result<std::int64_t>>> tasks;
  for (int id = 1; id <= 100; ++id) {
    tasks.push_back(id % 2 == 0 ? rolls_back(id) : insert(id, std::to_string(id)));
  }
  const Spent spent = run_all(tasks);
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    EXPECT_EQ(text(tasks[at].result()), at % 2 == 0 ? "1" : "constraint violation");
  }
  EXPECT_LE(spent.runs, 2 * tasks.size());
  EXPECT_LE(spent.commits, 51u);
  EXPECT_EQ(text(run(count())), "51");
}

TEST_F(BrokenGroup, violated_deferred_keys_after_the_first_break_nothing) {
  open();
  EXPECT_EQ(text(execute("CREATE TABLE owned (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES "
                         "t (id) DEFERRABLE INITIALLY DEFERRED)")),
            "0");
  ASSERT_EQ(text(run(insert(0, "first"))), "1");
  std::vector<Task<Result<std::int64_t>>> tasks;
  for (int id = 1; id <= 100; ++id) tasks.push_back(owned(id, id % 2 == 0 ? 99 : 0));
  const Spent spent = run_all(tasks);
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    EXPECT_EQ(text(tasks[at].result()), at % 2 == 0 ? "1" : "constraint violation");
  }
  EXPECT_LE(spent.runs, 101u) << "only the one before the first violation runs again";
  EXPECT_LE(spent.commits, 2u);
}

// SQLite chooses at random which of the writes fails in which run. In any case the bound holds, and
// exactly the acknowledged rows are there.
TEST_F(BrokenGroup, that_breaks_again_runs_the_rest_singly) {
  open();
  EXPECT_EQ(text(execute("CREATE TRIGGER chance BEFORE INSERT ON t WHEN random() % 8 = 0 BEGIN "
                         "SELECT RAISE(ROLLBACK, 'chance'); END")),
            "0");
  for (int round = 0; round < 20; ++round) {
    std::vector<Task<Result<std::int64_t>>> tasks;
    for (int at = 0; at < 100; ++at) {
      const int id = round * 100 + at;
      tasks.push_back(insert(id, std::to_string(id)));
    }
    EXPECT_LE(run_all(tasks).runs, 3 * tasks.size());
    std::multiset<std::string> acknowledged;
    for (std::size_t at = 0; at < tasks.size(); ++at) {
      if (tasks[at].result())
        acknowledged.insert(std::to_string(round * 100 + static_cast<int>(at)));
    }
    Bare other(folder_ / "a.db");
    EXPECT_EQ(other.list("SELECT id FROM t WHERE id / 100 = " + std::to_string(round)),
              acknowledged);
  }
}

TEST_F(SqliteTest, while_a_transaction_is_open_other_writes_wait_and_no_longer_than_they_may) {
  Options options;
  options.wait_max = milliseconds(500);
  options.transaction_hold = seconds(5);
  open(options);
  const auto hold = [this]() -> Task<std::optional<Transaction>> {
    auto transaction = co_await db_->begin();
    if (!transaction) co_return std::nullopt;
    (void)co_await transaction->execute("INSERT INTO t VALUES (1, 'held')");
    co_return *std::move(transaction);
  };
  auto held = run(hold());
  ASSERT_TRUE(held);
  auto waiting = insert(2, "waits");
  start(waiting);
  scene_.run();
  EXPECT_FALSE(waiting.done());
  scene_.pass(milliseconds(501));
  backend_->tick();
  scene_.run();
  ASSERT_TRUE(waiting.done());
  const auto refused = waiting.result();
  EXPECT_EQ(text(refused), "unavailable");
  EXPECT_THAT(refused.error().describe(), HasSubstr("waited 500 ms"));
  EXPECT_EQ(backend_->statistics().refused_waited, 1u);
  // A transaction that is held for too long is rolled back, and its holder is told.
  scene_.pass(seconds(5));
  backend_->tick();
  scene_.run();
  EXPECT_EQ(backend_->statistics().transactions_expired, 1u);
  const auto commit = [&]() -> Task<Result<std::int64_t>> { co_return co_await held->commit(); };
  EXPECT_EQ(text(run(commit())), "failed transaction");
  EXPECT_EQ(text(run(insert(3, "free"))), "1");
  EXPECT_EQ(text(run(count())), "1");
}

TEST_F(SqliteTest, a_queue_that_is_full_refuses_at_once) {
  Options options;
  options.writes_waiting_max = 3;
  options.reads_waiting_max = 2;
  options.reads_per_turn_max = 0;
  open(options);
  std::vector<Task<Result<std::int64_t>>> writes;
  std::vector<Task<Result<std::optional<std::int64_t>>>> reads;
  for (int id = 0; id < 5; ++id) {
    writes.push_back(insert(id, std::to_string(id)));
    reads.push_back(count());
  }
  scene_.home.turn([&] {
    for (auto& task : writes) task.start();
    for (auto& task : reads) task.start();
  });
  scene_.run();
  int written = 0, read = 0;
  for (auto& task : writes) written += task.result() ? 1 : 0;
  for (auto& task : reads) read += task.result() ? 1 : 0;
  EXPECT_EQ(written, 3);
  EXPECT_EQ(read, 2);
  EXPECT_EQ(backend_->statistics().refused_full, 5u);
}

TEST_F(SqliteTest, a_stream_that_nobody_reads_loses_its_connection) {
  Options options;
  options.stream_idle = seconds(30);
  options.streams_max = 1;
  open(options);
  const auto endless_rows = [](Database& db) {
    return db.stream<std::int64_t>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
  };
  std::optional<Stream<std::int64_t>> stream;
  scene_.home.turn([&] {
    stream.emplace(db_->backend(), seconds(100),
                   Sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                       "SELECT i + 1 FROM n) SELECT i FROM n"));
  });
  const auto next = [&]() -> Task<std::string> {
    const auto row = co_await stream->next();
    co_return row ? (*row ? std::to_string(**row) : "end")
                  : std::string(kind_name(row.error().kind()));
  };
  EXPECT_EQ(run(next()), "1");
  // No place for a second one: it waits, and is refused.
  const auto second = [&]() -> Task<std::string> {
    auto rows = endless_rows(*db_);
    const auto row = co_await rows.next();
    co_return row ? "row" : std::string(kind_name(row.error().kind()));
  };
  auto waiting = second();
  start(waiting);
  scene_.run();
  EXPECT_FALSE(waiting.done());
  scene_.pass(seconds(3));
  backend_->tick();
  scene_.run();
  EXPECT_EQ(waiting.result(), "unavailable");
  scene_.pass(seconds(31));
  backend_->tick();
  std::string last;
  for (int row = 0; row < 200 && last != "timeout"; ++row) last = run(next());
  EXPECT_EQ(last, "timeout");
  EXPECT_EQ(run(next()), "end");
  stream.reset();
  EXPECT_EQ(run(second()), "row");
}

TEST_F(SqliteTest, a_database_that_goes_within_a_turn_has_no_part_in_its_end) {
  open();
  scene_.home.turn([&] {
    auto found = count();
    EXPECT_TRUE(found.start());
    EXPECT_EQ(text(found.result()), "0");
    db_.reset();
    // Bytes that stand in its place now must not be run as a message of the turn.
    std::vector<std::string> others(200, std::string(200, '\xee'));
  });
  scene_.run();
}

TEST_F(SqliteTest, a_result_has_a_limit_and_says_what_to_use_instead) {
  Options options;
  options.rows_max = 10;
  open(options);
  const auto body = [this](std::int64_t rows) -> Task<std::string> {
    const auto found = co_await db_->query<std::int64_t>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i "
        "FROM n",
        rows);
    co_return found ? std::to_string(found->size()) : found.error().describe();
  };
  EXPECT_EQ(run(body(10)), "10");
  EXPECT_THAT(run(body(11)), HasSubstr("more than 10 rows: use a stream"));
}

TEST_F(SqliteTest, statements_are_prepared_once_and_the_least_used_goes_first) {
  Options options;
  options.statements_max = 2;
  open(options);
  const auto body = [this](int which) -> Task<void> {
    if (which == 0) (void)co_await db_->query_one<std::int64_t>("SELECT 0");
    if (which == 1) (void)co_await db_->query_one<std::int64_t>("SELECT 1");
    if (which == 2) (void)co_await db_->query_one<std::int64_t>("SELECT 2");
  };
  const auto prepared = [&](std::initializer_list<int> order) {
    const std::uint64_t before = backend_->statistics().statements_prepared;
    for (const int which : order) run(body(which));
    return backend_->statistics().statements_prepared - before;
  };
  EXPECT_EQ(prepared({0, 1, 0, 1, 0}), 2u);
  EXPECT_EQ(prepared({2, 0, 0}), 1u) << "1 went";
  EXPECT_EQ(prepared({1}), 1u);
}

TEST_F(SqliteTest, the_lock_of_another_program_is_waited_for_once_and_then_named) {
  Options options;
  options.path = folder_ / "c.db";
  options.busy_wait = milliseconds(30);
  // Each call of the clock takes this time: a thread that waits for a lock calls it repeatedly.
  std::atomic<std::int64_t> now_ns = 0, look_ns = milliseconds(10).ns;
  options.test_hooks.clock = [&] { return Instant{now_ns += look_ns}; };
  auto created = Sqlite::create(options);
  ASSERT_TRUE(created);
  Sqlite& backend = **created;
  Database opened(*std::move(created));
  Database* const db = &opened;
  const auto write = [db](int id) -> Task<std::string> {
    const auto written = co_await db->execute("INSERT INTO t VALUES ($1)", id);
    co_return written ? "done" : std::string(kind_name(written.error().kind()));
  };
  const auto create = [db]() -> Task<bool> {
    co_return bool(co_await db->execute("CREATE TABLE t (id INTEGER PRIMARY KEY)"));
  };
  thread::Loop loop;
  EXPECT_TRUE(loop.run(create()));
  Bare other(options.path);
  other.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (77)");
  EXPECT_EQ(loop.run(write(1)), "busy");
  EXPECT_FALSE(db->health());
  look_ns = 0;  // and from here on it may take this machine as long as it likes
  EXPECT_EQ(loop.run(write(2)), "unavailable") << "it is not waited for again";
  other.run("COMMIT");
  look_ns = seconds(1).ns;
  backend.tick();  // a probe, on the thread that writes
  while (!db->health()) std::this_thread::yield();
  look_ns = 0;
  EXPECT_EQ(loop.run(write(2)), "done");
  const std::uint64_t retries = db->statistics().busy_retries;
  EXPECT_GE(retries, 1u);
  EXPECT_EQ(other.one("SELECT group_concat(id) FROM t"), "2,77");
  EXPECT_EQ(loop.run(write(3)), "done");
  EXPECT_EQ(db->statistics().busy_retries, retries) << "the lock was free";
}

TEST_F(SqliteTest, a_file_that_cannot_be_opened_is_told_with_its_cause) {
  const auto refusal = [](const std::string& path) {
    Options options;
    options.path = path;
    const auto opened = sqlite::open(options);
    return opened ? std::string() : opened.error().describe();
  };
  const std::string below = folder_ / "none";
  const std::string file = folder_.write("file", "x");
  const auto words = [](const std::string& path, const std::string& cause) {
    return "cannot open the database '" + path + "': " + cause;
  };
  EXPECT_EQ(refusal(below + "/a.db"),
            words(below + "/a.db", "the folder '" + below + "' does not exist: create it"));
  EXPECT_EQ(refusal("/proc"), words("/proc", "this is a folder, not a file"));
  EXPECT_EQ(refusal(file + "/a.db"), words(file + "/a.db", "'" + file + "' is not a folder"));
  EXPECT_EQ(refusal("/proc/a.db"), words("/proc/a.db", "No such file or directory"));
}

TEST_F(SqliteTest, a_write_that_comes_while_a_group_is_being_written_joins_it) {
  Options options;
  options.path = folder_ / "d.db";
  auto created = sqlite::open(options);
  ASSERT_TRUE(created);
  Database* const db = &*created;
  const auto write = [db](int id) -> Task<bool> {
    co_return bool(co_await db->execute("INSERT INTO t VALUES ($1)", id));
  };
  const auto create = [db]() -> Task<bool> {
    co_return bool(co_await db->execute("CREATE TABLE t (id INTEGER PRIMARY KEY)"));
  };
  thread::Loop loop;
  EXPECT_TRUE(loop.run(create()));
  const std::uint64_t before = db->statistics().commits;
  Bare other(options.path);
  other.run("BEGIN IMMEDIATE");
  auto first = write(1), second = write(2);
  EXPECT_FALSE(loop.start(first));
  while (db->statistics().writes_waiting != 0) std::this_thread::yield();  // the writer has it
  EXPECT_FALSE(loop.start(second));
  EXPECT_EQ(db->statistics().writes_waiting, 1u);
  other.run("COMMIT");
  while (!first.done() || !second.done()) loop.turn();
  EXPECT_TRUE(first.result() && second.result());
  EXPECT_EQ(db->statistics().commits - before, 1u);
}

TEST_F(SqliteTest, the_log_is_written_back_when_it_is_long) {
  Options options;
  options.checkpoint_pages = 20;
  open(options);
  for (int id = 0; id < 40; ++id)
    EXPECT_EQ(text(run(insert(id, std::string(3000, 'x') + std::to_string(id)))), "1");
  EXPECT_GE(backend_->statistics().checkpoints, 1u);
  EXPECT_LT(std::filesystem::file_size(folder_ / "a.db-wal"), 60u * 4120);
}

// Turns of an executor that has more to do, or is about to wait.
class Turns final : public Executor {
 public:
  template <class F>
  void turn(bool waits, F&& happens) {
    enter(this);
    std::forward<F>(happens)();
    end_turn(waits);
    enter(nullptr);
  }
  void post(Message&) noexcept override { ADD_FAILURE() << "a read left its executor"; }
};

class KeptSnapshotTest : public SqliteTest {
 protected:
  // The number of rows that the reads of a turn see.
  std::int64_t count(bool waits, int reads = 2) {
    std::int64_t seen = -1;
    turns_.turn(waits, [&] {
      for (int read_count = 0; read_count < reads; ++read_count) {
        auto task = read(seen);
        EXPECT_TRUE(task.start());
      }
    });
    return seen;
  }
  std::uint64_t snapshots() const { return backend_->statistics().snapshots; }

 private:
  Task<void> read(std::int64_t& seen) {
    const auto found = co_await db_->query_one<std::int64_t>("SELECT count(*) FROM t");
    if (found) seen = **found;
  }
  Turns turns_;
};

TEST_F(KeptSnapshotTest, it_lasts_while_there_is_something_to_do_and_not_for_ever) {
  open();
  const std::uint64_t before = snapshots();
  for (unsigned turn = 0; turn < Executor::kept_turns_max; ++turn) count(false);
  EXPECT_EQ(snapshots() - before, 1u);
  count(false);
  count(true);
  EXPECT_EQ(snapshots() - before, 2u);
  count(true);
  EXPECT_EQ(snapshots() - before, 3u);
}

TEST_F(KeptSnapshotTest, one_read_alone_keeps_none) {
  open();
  const std::uint64_t before = snapshots();
  for (int turn = 0; turn < 3; ++turn) count(false, 1);
  EXPECT_EQ(snapshots() - before, 3u);
}

TEST_F(KeptSnapshotTest,
       a_commit_of_this_program_is_seen_by_the_next_read_and_another_s_after_a_wait) {
  open();
  EXPECT_EQ(count(false), 0);
  EXPECT_EQ(text(run(insert(1, "ours"))), "1");
  EXPECT_EQ(count(false), 1);
  Bare(folder_ / "a.db").run("INSERT INTO t VALUES (2, 'theirs')");
  count(true);
  EXPECT_EQ(count(true), 2);
}

TEST_F(KeptSnapshotTest, none_is_kept_while_the_log_is_to_be_written_back) {
  Options options;
  options.checkpoint_pages = 1;
  open(options);
  Bare other(folder_ / "a.db");
  other.run("BEGIN");
  (void)other.one("SELECT count(*) FROM t");  // so that the log cannot be written back
  EXPECT_EQ(text(run(insert(1, "x"))), "1");
  EXPECT_EQ(text(run(insert(2, "y"))), "1");
  const std::uint64_t before = snapshots();
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(count(false), 2);
  EXPECT_EQ(snapshots() - before, 3u);
  other.run("COMMIT");
  EXPECT_EQ(text(run(insert(3, "z"))), "1");
  const std::uint64_t then = snapshots();
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(count(false), 3);
  EXPECT_EQ(snapshots() - then, 1u);
  count(true);
}

TEST_F(SqliteTest, columns_find_their_members_whoever_asks_and_whatever_became_of_the_table) {
  open();
  Bare other(folder_ / "a.db");
  const auto body = [this]() -> Task<std::string> {
    const auto pair = co_await db_->query_one<Pair>("SELECT * FROM p");
    const auto only = co_await db_->query_one<OnlyB>("SELECT * FROM p");
    if (!pair || !*pair || !only || !*only) co_return pair ? "none" : pair.error().describe();
    co_return std::to_string((*pair)->a) + std::to_string((*pair)->b) + std::to_string((*only)->b);
  };
  other.run("CREATE TABLE p (a INT, b INT); INSERT INTO p VALUES (1, 2)");
  EXPECT_EQ(run(body()), "122");
  EXPECT_EQ(run(body()), "122");
  other.run("DROP TABLE p; CREATE TABLE p (c INT, b INT, a INT); INSERT INTO p VALUES (9, 4, 3)");
  EXPECT_EQ(run(body()), "344");
  other.run("DROP TABLE p; CREATE TABLE p (c INT, b INT); INSERT INTO p VALUES (9, 4)");
  EXPECT_THAT(run(body()), HasSubstr("'a' is no column of the result"));
}

TEST_F(SqliteTest, its_files_are_for_the_user_and_the_group_alone) {
  const mode_t before = ::umask(0);  // what the process would let everybody have
  open();
  for (const char* const name : {"a.db", "a.db-wal", "a.db-shm"}) {
    struct stat facts{};
    ASSERT_EQ(::stat((folder_ / name).c_str(), &facts), 0) << name;
    EXPECT_EQ(facts.st_mode & 0777, 0640u) << name;
  }
  ::umask(before);
}

TEST(SqliteThreads, take_no_signal_of_the_program) {
  const Folder folder;
  Options options;
  options.path = folder / "a.db";
  options.readers = 2;
  const auto created = Sqlite::create(options);
  ASSERT_TRUE(created) << created.error().describe();
  EXPECT_EQ(quiet_threads("db-"), 4u) << "one that writes, two that read, and one that watches";
}

TEST(SqliteOptions, that_nothing_could_run_with_are_refused_by_their_names) {
  const Folder folder;
  const auto refused = [&folder](auto&& change) {
    Options options{.path = folder / "a.db"};
    change(options);
    const auto opened = sqlite::open(options);
    return opened ? std::string("opened") : opened.error().describe();
  };
  EXPECT_EQ(refused([](Options&) {}), "opened");
  EXPECT_THAT(refused([](Options& o) { o.path.clear(); }), HasSubstr("'path'"));
  EXPECT_THAT(refused([](Options& o) { o.readers = 0; }), HasSubstr("'readers'"));
  EXPECT_THAT(refused([](Options& o) { o.readers = 257; }), HasSubstr("'readers'"));
  EXPECT_THAT(refused([](Options& o) { o.group_max = 0; }), HasSubstr("'group_max'"));
  EXPECT_THAT(refused([](Options& o) { o.reads_waiting_max = 0; }), HasSubstr("'reads_wait"));
  EXPECT_THAT(refused([](Options& o) { o.writes_waiting_max = 0; }), HasSubstr("'writes_wait"));
  EXPECT_THAT(refused([](Options& o) { o.statements_max = 0; }), HasSubstr("'statements_max'"));
  EXPECT_THAT(refused([](Options& o) { o.streams_max = 0; }), HasSubstr("'streams_max'"));
  EXPECT_THAT(refused([](Options& o) { o.timeout = {}; }), HasSubstr("'timeout'"));
  EXPECT_THAT(refused([](Options& o) { o.wait_max = {}; }), HasSubstr("'wait_max'"));
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
