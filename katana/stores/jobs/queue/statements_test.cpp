// Tests of the statements that the queue sends, and of their failures, on a scripted database.
#include "katana/stores/database/scripted_backend_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using database::Kind;
using database::Order;
using database::Script;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class QueueStatementsTest : public QueueTest {
 protected:
  // Each insertion makes a row with the next id; other statements change one row.
  QueueStatementsTest() {
    script_.answer = [this](const Script::Call& call) -> Script::Reply {
      if (call.text.find("INSERT") == std::string::npos) return {.rows_changed = 1};
      return {.rows_changed = 1, .columns = {"id"}, .rows = {{++id_}}};
    };
  }
  // A queue on a database of that kind, which has not made its table.
  JobQueue& queue_on(const std::string& system) {
    script_.system = system;
    scripted_.emplace(std::make_unique<database::ScriptedBackend>(script_));
    return of_script_.emplace(*scripted_);
  }
  // Queues a job in a transaction, and commits it.
  std::string put_in_transaction(JobQueue& queue) {
    struct Body {
      static Task<std::string> run(database::Database& database, JobQueue& queue) {
        auto transaction = co_await database.begin();
        if (!transaction) co_return transaction.error().describe();
        const auto queued = co_await queue.enqueue_json(*transaction, "notes", "{}");
        if (!queued) co_return queued.error().describe();
        const auto committed = co_await transaction->commit();
        co_return committed ? "" : committed.error().describe();
      }
    };
    return run(Body::run(*scripted_, queue));
  }
  static std::vector<database::MigrationFile> all_migrations() {
    std::vector<database::MigrationFile> files = JobTable::migrations(1);
    const auto added = JobTable::trace_migrations(2);
    files.insert(files.end(), added.begin(), added.end());
    return files;
  }
  static database::Error away() { return {Kind::unavailable, "the database is away"}; }

  Script script_;
  std::optional<database::Database> scripted_;
  std::optional<JobQueue> of_script_;
  std::int64_t id_ = 0;
};

// ---- the table

TEST_F(QueueStatementsTest, the_table_is_made_once_by_the_first_call) {
  JobQueue& queue = queue_on("sqlite");
  for (int count = 0; count < 3; ++count) ASSERT_TRUE(run(queue.enqueue_json("notes", "{}")));
  EXPECT_THAT(script_.begun_with("CREATE TABLE"), SizeIs(1));
  EXPECT_THAT(script_.begun_with("CREATE "), SizeIs(4)) << "the table and three indexes";
  EXPECT_THAT(script_.begun_with("INSERT"), SizeIs(3));
  EXPECT_EQ(put_in_transaction(queue), "");
  EXPECT_THAT(script_.begun_with("CREATE "), SizeIs(4)) << "nor in a transaction";
}

TEST_F(QueueStatementsTest, a_transaction_of_sqlite_makes_the_table_itself) {
  EXPECT_EQ(put_in_transaction(queue_on("sqlite")), "");
  const auto made = script_.begun_with("CREATE ");
  ASSERT_THAT(made, SizeIs(4));
  for (const Script::Call& call : made) EXPECT_EQ(call.order, Order::within) << call.text;
}

TEST_F(QueueStatementsTest, a_transaction_of_sqlite_that_is_rolled_back_leaves_no_table_behind) {
  struct Body {
    static Task<std::string> put(database::Database& database, JobQueue& queue, bool commits) {
      auto transaction = co_await database.begin();
      if (!transaction) co_return transaction.error().describe();
      const auto queued = co_await queue.enqueue_json(*transaction, "notes", "{}");
      if (!queued) co_return queued.error().describe();
      auto ended = database::Result<std::int64_t>(0);
      if (commits) {
        ended = co_await transaction->commit();
      } else {
        ended = co_await transaction->rollback();
      }
      co_return ended ? "" : ended.error().describe();
    }
  };
  EXPECT_EQ(run(Body::put(db(), queue(), false)), "");
  EXPECT_EQ(run(Body::put(db(), queue(), true)), "") << "the table is made again";
  EXPECT_THAT(jobs(JobState::waiting), SizeIs(1));
}

TEST_F(QueueStatementsTest, a_transaction_of_postgresql_does_not_hold_the_locks_of_a_new_table) {
  EXPECT_EQ(put_in_transaction(queue_on("postgresql")), "");
  const auto made = script_.begun_with("CREATE ");
  ASSERT_THAT(made, SizeIs(4));
  for (const Script::Call& call : made) EXPECT_EQ(call.transaction, 0u) << call.text;
}

TEST_F(QueueStatementsTest, a_table_that_cannot_be_made_is_an_error_with_the_name_of_the_queue) {
  script_.answer = [](const Script::Call&) -> Script::Reply { return {.error = away()}; };
  const auto queued = run(queue_on("sqlite").enqueue_json("notes", "{}"));
  ASSERT_FALSE(queued);
  EXPECT_THAT(queued.error().describe(), HasSubstr("the queue 'notes': the database is away"));
  EXPECT_THAT(script_.begun_with("INSERT"), IsEmpty());
}

TEST_F(QueueStatementsTest, its_migration_makes_all_that_the_queue_needs) {
  testing::TemporaryDatabase migrated(all_migrations());
  ASSERT_EQ(migrated.problem(), "");
  JobQueue queue(migrated.database(), {.make_table = false});
  const auto first = run(queue.enqueue_json("notes", "{}", {.key = "k"}));
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_TRUE(first->is_new);
  const auto second = run(queue.enqueue_json("notes", "{}", {.key = "k"}));
  ASSERT_TRUE(second) << second.error().describe();
  EXPECT_EQ(second->id, first->id) << "the key is unique";
  EXPECT_THAT(*run(queue.table().claim("notes", 1, seconds(10), "first")), SizeIs(1));
  EXPECT_TRUE(*run(queue.table().bury({first->id, 1}, "a defect")));
  const auto third = run(queue.enqueue_json("notes", "{}", {.key = "k"}));
  ASSERT_TRUE(third) << third.error().describe();
  EXPECT_TRUE(third->is_new) << "the key of a dead letter is free";
  const auto files = JobTable::migrations(12);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(files[0].file, "0012_katana_queue_jobs.sqlite.sql");
  EXPECT_EQ(files[1].file, "0012_katana_queue_jobs.postgres.sql");
  EXPECT_EQ(JobTable::trace_migrations(2)[0].file, "0002_katana_queue_jobs_trace.sql");
}

// Databases of version 0.2.0 have recorded these checksums: another text is refused there.
TEST_F(QueueStatementsTest, the_text_of_a_migration_that_was_published_never_changes) {
  const auto files = JobTable::migrations(1);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(database::migration_checksum(files[0].text), "a9399d077a16cf55") << files[0].text;
  EXPECT_EQ(database::migration_checksum(files[1].text), "a3307153b289996b") << files[1].text;
}

TEST_F(QueueStatementsTest, the_second_migration_adds_its_column_to_a_recorded_first) {
  const database::sqlite::Folder folder;
  const auto open = [&](const std::vector<database::MigrationFile>& files) {
    auto bundled = database::bundled_migrations(files);
    EXPECT_TRUE(bundled) << bundled.error().describe();
    database::sqlite::Options options;
    options.path = folder / "queue.db";
    options.bundled = *std::move(bundled);
    return database::sqlite::open(std::move(options));
  };
  ASSERT_TRUE(open(JobTable::migrations(1)));
  const auto upgraded = open(all_migrations());
  EXPECT_TRUE(upgraded) << upgraded.error().describe();
}

// ---- clocks and wakers

TEST_F(QueueStatementsTest, a_statement_of_postgresql_adds_nothing_to_the_clock_of_the_server) {
  ASSERT_TRUE(run(queue_on("postgresql").enqueue_json("notes", "{}")));
  const auto inserted = script_.begun_with("WITH made");
  ASSERT_THAT(inserted, SizeIs(1));
  EXPECT_EQ(inserted[0].values[1], "0");
}

TEST_F(QueueStatementsTest, a_statement_of_sqlite_has_the_clock_of_the_reactor) {
  ASSERT_TRUE(run(queue_on("sqlite").enqueue_json("notes", "{}")));
  const auto inserted = script_.begun_with("INSERT");
  ASSERT_THAT(inserted, SizeIs(1));
  EXPECT_EQ(inserted[0].values[1], "1000000000");
}

TEST_F(QueueStatementsTest, a_worker_is_woken_by_a_job_that_it_can_claim) {
  for (const bool is_postgres : {false, true}) {
    JobQueue& queue = queue_on(is_postgres ? "postgresql" : "sqlite");
    bool woken = false;
    AsyncEvent event;
    const auto waker = std::make_shared<Waker>();
    waker->attach(reactor(), event, woken);
    queue.add_waker("notes", waker);
    EXPECT_EQ(put_in_transaction(queue), "");
    turn();
    // PostgreSQL notifies when the transaction is committed: a claim before finds nothing.
    EXPECT_EQ(woken, !is_postgres);
    woken = false;
    ASSERT_TRUE(run(queue.enqueue_json("notes", "{}")));
    turn();
    EXPECT_TRUE(woken);
    queue.remove_waker(waker);
    waker->detach();
  }
}

// ---- failures

TEST_F(QueueStatementsTest, a_job_that_is_not_inserted_is_an_error_with_the_name_of_its_queue) {
  script_.answer = [](const Script::Call& call) -> Script::Reply {
    if (call.text.starts_with("INSERT")) return {.error = away()};
    return {};
  };
  const auto queued = run(queue_on("sqlite").enqueue_json("notes", "{}"));
  ASSERT_FALSE(queued);
  EXPECT_THAT(queued.error().describe(), HasSubstr("the queue 'notes': the database is away"));
}

TEST_F(QueueStatementsTest, a_key_that_cannot_be_looked_up_is_an_error) {
  script_.answer = [](const Script::Call& call) -> Script::Reply {
    if (call.text.starts_with("SELECT id")) return {.error = away()};
    return {};
  };
  const auto queued = run(queue_on("sqlite").enqueue_json("notes", "{}", {.key = "k"}));
  ASSERT_FALSE(queued);
  EXPECT_THAT(queued.error().describe(), HasSubstr("the queue 'notes': the database is away"));
  EXPECT_THAT(script_.begun_with("INSERT"), SizeIs(1)) << "it is not tried again";
}

TEST_F(QueueStatementsTest, a_key_whose_job_ends_all_the_time_is_given_up_after_three_attempts) {
  script_.answer = [](const Script::Call&) -> Script::Reply { return {}; };
  const auto queued = run(queue_on("sqlite").enqueue_json("notes", "{}", {.key = "k"}));
  ASSERT_FALSE(queued);
  EXPECT_EQ(queued.error().code(), Code::unavailable);
  EXPECT_THAT(queued.error().describe(), HasSubstr("begin and end all the time"));
  EXPECT_THAT(script_.begun_with("INSERT"), SizeIs(3));
}

TEST_F(QueueStatementsTest, a_failure_of_each_statement_of_the_table_reaches_its_caller) {
  JobQueue& queue = queue_on("sqlite");
  JobTable& table = queue.table();
  table.assume_made();
  script_.answer = [](const Script::Call&) -> Script::Reply { return {.error = away()}; };
  const Lease lease{1, 1};
  const database::Queries& queries = *scripted_;
  EXPECT_FALSE(run(table.claim("notes", 1, seconds(1), "first")));
  EXPECT_FALSE(run(table.renew("notes", "first", {1}, seconds(1))));
  EXPECT_FALSE(run(table.finish(queries, lease, false)));
  EXPECT_FALSE(run(table.finish(queries, lease, true)));
  EXPECT_FALSE(run(table.retry(lease, seconds(1), "away")));
  EXPECT_FALSE(run(table.bury(lease, "away")));
  EXPECT_FALSE(run(table.release(lease)));
  EXPECT_FALSE(run(table.expire("notes", 3)));
  EXPECT_FALSE(run(table.depth("notes")));
  EXPECT_FALSE(run(table.list("notes", JobState::dead, 0, 1)));
  EXPECT_FALSE(run(table.revive("notes", 1, 1)));
  EXPECT_FALSE(run(table.discard("notes", 1)));
  EXPECT_EQ(script_.calls.size(), 12u);
  const auto told_of = [&](const auto& result) {
    return result ? std::string("no error") : result.error().describe();
  };
  const auto reason = HasSubstr("the queue 'notes': the database is away");
  EXPECT_THAT(told_of(run(queue.list("notes", JobState::dead))), reason);
  EXPECT_THAT(told_of(run(queue.depth("notes"))), reason);
  EXPECT_THAT(told_of(run(queue.retry("notes", 1))), reason);
  EXPECT_THAT(told_of(run(queue.retry_all("notes"))), reason);
  EXPECT_THAT(told_of(run(queue.discard("notes", 1))), reason);
}

TEST_F(QueueStatementsTest, a_removal_counts_old_and_surplus_rows_and_fails_with_either) {
  JobQueue& queue = queue_on("sqlite");
  std::size_t failing = 0;
  script_.answer = [&](const Script::Call&) -> Script::Reply {
    if (script_.calls.size() == failing) return {.error = away()};
    return {.rows_changed = 2};
  };
  const auto purge = [&] {
    script_.calls.clear();
    return run(queue.table().purge("notes", JobState::dead, seconds(1), 5));
  };
  EXPECT_EQ(purge().value_or(-1), 4);
  for (failing = 1; failing <= 2; ++failing) EXPECT_FALSE(purge()) << failing;
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
