// The job queue's table on PostgreSQL: its statements have their own text there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/notifications.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"
#include "katana/stores/jobs/queue/table_suite_test.hpp"

namespace katana::queue {

struct Order {
  std::int64_t number = 0;
};
KATANA_DESCRIBE(Order, number)

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class QueueInPostgres : public ::testing::Test {
 protected:
  QueueInPostgres() : database_(open(options_)), queue_(database_) {}

  static database::Database open(database::postgres::Options options) {
    options.wait_max = seconds(20);
    options.connections_max = 8;
    auto opened = database::postgres::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().describe();
    return *std::move(opened);
  }
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  std::int64_t put(std::int64_t number, EnqueueOptions options = {}) {
    const Order order{number};
    const auto queued = run(queue_.enqueue("orders", order, options));
    EXPECT_TRUE(queued) << queued.error().describe();
    return queued ? queued->id : 0;
  }
  std::vector<ClaimedJob> claim(std::int64_t count, Duration lease = seconds(30),
                                const std::string& worker = "w") {
    auto claimed = run(queue_.table().claim("orders", count, lease, worker));
    EXPECT_TRUE(claimed) << claimed.error().describe();
    return claimed ? *std::move(claimed) : std::vector<ClaimedJob>();
  }
  static Lease of(const ClaimedJob& job) { return {job.id, job.fence}; }

  thread::Loop loop_;
  database::postgres::Options options_ = database::postgres::Cluster::shared().options();
  database::Database database_;
  JobQueue queue_;
};

TEST_F(QueueInPostgres, jobs_are_claimed_in_their_order_and_finished) {
  for (int number = 1; number <= 5; ++number) put(number);
  put(6, {.priority = 10});
  put(7, {.delay = seconds(3600)});
  const auto first = claim(2);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].payload, R"({"number":6})");
  EXPECT_EQ(first[1].payload, R"({"number":1})");
  EXPECT_EQ(first[0].fence, 1);
  EXPECT_GE(first[0].waited_us, 0);
  EXPECT_THAT(claim(100), SizeIs(4));
  EXPECT_THAT(claim(100), SizeIs(0));
  EXPECT_TRUE(*run(queue_.table().finish(database_, of(first[0]), false)));
  EXPECT_FALSE(*run(queue_.table().finish(database_, of(first[0]), false)));
  EXPECT_TRUE(*run(queue_.table().finish(database_, of(first[1]), true)));
  const auto depth = run(queue_.depth("orders"));
  EXPECT_EQ(depth->delayed, 1);
  EXPECT_EQ(depth->running, 4);
  EXPECT_THAT(*run(queue_.list("orders", JobState::done)), SizeIs(1));
}

TEST_F(QueueInPostgres, a_job_of_a_transaction_is_seen_when_that_is_committed) {
  ASSERT_TRUE(run(queue_.depth("orders")));  // makes the table
  const auto walk = [&](bool commits) -> Task<std::string> {
    auto transaction = co_await database_.begin();
    if (!transaction) co_return transaction.error().describe();
    const Order order{1};
    const auto queued = co_await queue_.enqueue(*transaction, "orders", order);
    if (!queued) co_return queued.error().describe();
    const auto before = co_await queue_.table().claim("orders", 10, seconds(30), "w");
    if (!before || !before->empty()) co_return "claimed before the commit";
    if (commits) {
      const auto committed = co_await transaction->commit();
      if (!committed) co_return committed.error().describe();
    } else {
      const auto undone = co_await transaction->rollback();
      if (!undone) co_return undone.error().describe();
    }
    co_return "";
  };
  EXPECT_EQ(run(walk(false)), "");
  EXPECT_THAT(claim(10), SizeIs(0));
  EXPECT_EQ(run(walk(true)), "");
  EXPECT_THAT(claim(10), SizeIs(1));
}

TEST_F(QueueInPostgres, two_claims_at_once_share_no_job) {
  for (int number = 1; number <= 40; ++number) put(number);
  const auto both = [&]() -> Task<std::vector<std::int64_t>> {
    std::vector<Task<database::Result<std::vector<ClaimedJob>>>> tasks;
    for (int worker = 0; worker < 8; ++worker) {
      tasks.push_back(queue_.table().claim("orders", 5, seconds(30), std::to_string(worker)));
    }
    auto results = co_await when_all(std::move(tasks));
    std::vector<std::int64_t> ids;
    for (const auto& result : results) {
      for (const ClaimedJob& job : *result) ids.push_back(job.id);
    }
    co_return ids;
  };
  const std::vector<std::int64_t> ids = run(both());
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), ids.size());
  // Jobs that were locked during other claims are skipped, and there for the next claim.
  EXPECT_EQ(ids.size() + claim(100).size(), 40u);
}

TEST_F(QueueInPostgres, retries_dead_letters_and_leases) {
  JobTable& table = queue_.table();
  put(1, {.key = "one"});
  auto job = claim(1);
  ASSERT_THAT(job, SizeIs(1));
  EXPECT_TRUE(*run(table.retry(of(job[0]), Duration{}, "first")));
  job = claim(1);
  ASSERT_THAT(job, SizeIs(1));
  EXPECT_EQ(job[0].attempts, 2);
  EXPECT_TRUE(*run(table.release(of(job[0]))));
  job = claim(1);
  EXPECT_EQ(job[0].attempts, 2);
  EXPECT_EQ(job[0].fence, 3);
  EXPECT_TRUE(*run(table.bury(of(job[0]), "second")));
  EXPECT_EQ(run(queue_.list("orders", JobState::dead))->at(0).failure, "second");
  put(2, {.key = "one"});
  EXPECT_EQ(run(queue_.retry("orders", job[0].id)).error().code(), Code::already_exists);
  EXPECT_THAT(claim(1), SizeIs(1));
  EXPECT_TRUE(run(queue_.discard("orders", job[0].id)));
  // A lease that is over.
  put(3);
  const auto lost = claim(1, milliseconds(1));
  ASSERT_THAT(lost, SizeIs(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // by the server's clock
  const auto expired = run(table.expire("orders", 5));
  ASSERT_TRUE(expired) << expired.error().describe();
  ASSERT_THAT(*expired, SizeIs(1));
  EXPECT_EQ((*expired)[0].state, JobState::waiting);
  EXPECT_FALSE(*run(table.finish(database_, of(lost[0]), false)));
  const auto again = claim(1);
  EXPECT_EQ(again[0].fence, 2);
  const auto renewed = run(table.renew("orders", "w", {again[0].id, lost[0].id + 7}, seconds(30)));
  ASSERT_TRUE(renewed) << renewed.error().describe();
  ASSERT_THAT(*renewed, SizeIs(1));
  EXPECT_EQ((*renewed)[0].fence, 2);
  EXPECT_TRUE(run(table.purge("orders", JobState::dead, Duration{}, 0)));
}

// The rules that katana/stores/jobs/queue/table_test.cpp has for SQLite.
TEST_F(QueueInPostgres, a_worker_that_lost_its_lease_changes_nothing) {
  EXPECT_EQ(run(check_fences(queue_)), "");
}
TEST_F(QueueInPostgres, a_worker_renews_its_own_leases_and_no_others) {
  EXPECT_EQ(run(check_renewals(queue_)), "");
}
TEST_F(QueueInPostgres, a_lease_that_is_over_is_found_and_no_other) {
  EXPECT_EQ(run(check_expiry(queue_)), "");
}
TEST_F(QueueInPostgres, a_lease_is_not_taken_away_in_its_last_second) {
  EXPECT_EQ(run(check_last_seconds(queue_)), "");
}
TEST_F(QueueInPostgres, a_row_says_how_its_job_ended) { EXPECT_EQ(run(check_ends(queue_)), ""); }
TEST_F(QueueInPostgres, a_dead_letter_is_revived_with_all_of_its_attempts) {
  EXPECT_EQ(run(check_dead_letters(queue_)), "");
}
TEST_F(QueueInPostgres, a_job_that_runs_is_not_discarded) {
  EXPECT_EQ(run(check_discards(queue_)), "");
}
TEST_F(QueueInPostgres, jobs_are_claimed_in_the_order_of_their_times_and_priorities) {
  EXPECT_EQ(run(check_order(queue_)), "");
}
TEST_F(QueueInPostgres, a_key_keeps_others_out_for_as_long_as_it_lasts) {
  EXPECT_EQ(run(check_keys(queue_)), "");
}
TEST_F(QueueInPostgres, old_and_surplus_rows_are_removed_and_no_others) {
  EXPECT_EQ(run(check_purges(queue_)), "");
}

TEST_F(QueueInPostgres, a_table_of_an_earlier_version_gets_its_column_and_keeps_its_rows) {
  JobQueue next(database_);
  EXPECT_EQ(run(check_old_table(queue_, next)), "");
}

TEST_F(QueueInPostgres, a_key_lets_one_of_many_at_once_in) {
  ASSERT_TRUE(run(queue_.depth("orders")));
  const auto race = [&]() -> Task<std::vector<std::int64_t>> {
    std::vector<Task<Result<Enqueued>>> tasks;
    for (int index = 0; index < 16; ++index) {
      const Order order{index};
      const EnqueueOptions same{.key = "the same"};
      tasks.push_back(queue_.enqueue("orders", order, same));
    }
    auto results = co_await when_all(std::move(tasks));
    std::vector<std::int64_t> ids;
    for (const auto& result : results) ids.push_back(result ? result->id : -1);
    co_return ids;
  };
  const std::vector<std::int64_t> ids = run(race());
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_NE(ids[0], -1);
  EXPECT_EQ(run(queue_.depth("orders"))->ready, 1);
}

TEST_F(QueueInPostgres, who_listens_is_told_by_the_commit) {
  ASSERT_TRUE(run(queue_.depth("orders")));
  auto notifications = database::postgres::Notifications::open(options_);
  ASSERT_TRUE(notifications) << notifications.error().describe();
  auto subscription = (*notifications)->subscribe(notify_channel);
  ASSERT_TRUE(subscription);
  const auto listen = [&]() -> Task<std::string> {
    auto first = co_await subscription->next();  // may_have_missed: it listens
    if (!first) co_return first.error().describe();
    auto transaction = co_await database_.begin();
    if (!transaction) co_return transaction.error().describe();
    const Order order{1};
    const auto queued = co_await queue_.enqueue(*transaction, "orders", order);
    if (!queued) co_return queued.error().describe();
    auto committed = co_await transaction->commit();
    if (!committed) co_return committed.error().describe();
    auto told = co_await subscription->next();
    co_return told ? told->payload : told.error().describe();
  };
  EXPECT_EQ(run(listen()), "orders");
}

std::vector<database::Migration> bundled(bool has_second) {
  std::vector<database::MigrationFile> files = JobQueue::migrations(1);
  const auto added = JobQueue::trace_migrations(2);
  if (has_second) files.insert(files.end(), added.begin(), added.end());
  auto migrations = database::bundled_migrations(files);
  EXPECT_TRUE(migrations) << migrations.error().describe();
  return migrations ? *std::move(migrations) : std::vector<database::Migration>();
}

TEST_F(QueueInPostgres, the_migrations_make_the_table_that_the_queue_uses) {
  database::postgres::Options options = database::postgres::Cluster::shared().options();
  options.bundled = bundled(true);
  database::Database migrated = open(std::move(options));
  JobQueue queue(migrated, {.make_table = false});
  const Order order{1};
  const auto queued = run(queue.enqueue("orders", order));
  EXPECT_TRUE(queued) << queued.error().describe();
}

TEST_F(QueueInPostgres, the_second_migration_adds_its_column_to_a_recorded_first) {
  database::postgres::Options options = database::postgres::Cluster::shared().options();
  options.bundled = bundled(false);
  (void)open(options);
  options.bundled = bundled(true);
  database::Database upgraded = open(options);
  JobQueue queue(upgraded, {.make_table = false});
  const Order order{1};
  const auto queued = run(queue.enqueue("orders", order));
  EXPECT_TRUE(queued) << queued.error().describe();
  EXPECT_EQ(database::postgres::Cluster::shared().ask("SELECT count(*) FROM katana_migrations",
                                                      options.database),
            "2");
}

// A table of version 0.2.0, as its migration made it.
class OldQueueInPostgres : public QueueInPostgres {
 protected:
  OldQueueInPostgres() { old_options_.bundled = bundled(false); }

  static const database::postgres::Cluster& cluster() {
    return database::postgres::Cluster::shared();
  }
  static Task<database::Result<database::Transaction>> begin(database::Database& database) {
    co_return co_await database.begin();
  }
  static Task<database::Result<std::int64_t>> commit(database::Transaction& transaction) {
    co_return co_await transaction.commit();
  }
  // The lock that a statement which queues or claims takes until the end of its transaction.
  static Task<database::Result<std::int64_t>> lock(database::Transaction& transaction) {
    co_return co_await transaction.execute("LOCK TABLE katana_queue_jobs IN ROW EXCLUSIVE MODE");
  }
  std::string columns() const {
    return cluster().ask(
        "SELECT count(*) FROM information_schema.columns WHERE table_name = 'katana_queue_jobs' "
        "AND column_name = 'trace'",
        old_options_.database);
  }

  database::postgres::Options old_options_ = database::postgres::Cluster::shared().options();
};

TEST_F(OldQueueInPostgres, a_queue_without_its_column_obeys_the_same_rules) {
  database::Database old = open(old_options_);
  for (const bool notifies : {true, false}) {
    JobQueue queue(old, {.make_table = false, .notify = notifies});
    EXPECT_EQ(run(check_order(queue)), "");
    EXPECT_EQ(run(check_keys(queue)), "");
    (void)cluster().ask("DELETE FROM katana_queue_jobs", old_options_.database);
  }
  EXPECT_EQ(columns(), "0");
}

TEST_F(OldQueueInPostgres, the_column_comes_later_while_transactions_use_the_table) {
  database::Database old = open(old_options_);
  JobQueue queue(old);
  ASSERT_TRUE(run(queue.depth("orders")));  // makes what is missing, but for the column
  auto transaction = run(begin(old));
  ASSERT_TRUE(transaction) << transaction.error().describe();
  ASSERT_TRUE(run(lock(*transaction)));
  const Order order{1};
  {
    // Without its limit the ALTER TABLE would wait for as long as the transaction lasts.
    const DeadlineScope scope(monotonic_now() + seconds(20));
    const auto queued = run(queue.enqueue("orders", order));
    EXPECT_TRUE(queued) << queued.error().describe();
  }
  EXPECT_THAT(*run(queue.table().claim("orders", 10, seconds(30), "w")), SizeIs(1));
  EXPECT_EQ(columns(), "0");
  ASSERT_TRUE(run(commit(*transaction)));
  JobQueue next(old);
  ASSERT_TRUE(run(next.enqueue("orders", order)));
  EXPECT_EQ(columns(), "1");
}

TEST_F(OldQueueInPostgres, many_calls_of_two_processes_add_the_column_once_and_all_succeed) {
  database::Database first = open(old_options_);
  database::Database second = open(old_options_);
  JobQueue queues[] = {JobQueue(first), JobQueue(second)};
  const auto race = [&]() -> Task<std::size_t> {
    std::vector<Task<Result<Enqueued>>> tasks;
    for (int index = 0; index < 16; ++index) {
      const std::string payload = "{}";
      tasks.push_back(queues[index % 2].enqueue_json("orders", payload));
    }
    const auto results = co_await when_all(std::move(tasks));
    co_return static_cast<std::size_t>(
        std::ranges::count_if(results, [](const auto& each) { return each.has_value(); }));
  };
  EXPECT_EQ(run(race()), 16u);
  EXPECT_EQ(columns(), "1");
}

// The plan of a claim: the index, not the table.
TEST_F(QueueInPostgres, a_claim_of_a_large_backlog_uses_its_index) {
  ASSERT_TRUE(run(queue_.depth("orders")));
  const auto& cluster = database::postgres::Cluster::shared();
  (void)cluster.ask(
      "INSERT INTO katana_queue_jobs (queue, state, priority, rank_us, due_us, until_us, "
      "queued_us, attempts, fence, key_lasts, payload, failure, worker, request_id) SELECT "
      "'orders', 0, 0, n, n, 0, n, 0, 0, 1, '{}', '', '', '' FROM generate_series(1, 20000) AS n",
      options_.database);
  (void)cluster.ask("ANALYZE katana_queue_jobs", options_.database);
  const std::string plan = cluster.ask(
      "EXPLAIN (FORMAT JSON) SELECT id FROM katana_queue_jobs WHERE queue = 'orders' AND state = 0 "
      "AND rank_us <= (0::bigint + (extract(epoch FROM statement_timestamp()) * 1000000)::bigint) "
      "+ 6000000000 AND due_us <= (0::bigint + (extract(epoch FROM statement_timestamp()) * "
      "1000000)::bigint) ORDER BY rank_us, id LIMIT 8 FOR UPDATE SKIP LOCKED",
      options_.database);
  EXPECT_THAT(plan, HasSubstr("katana_queue_jobs_ready"));
  EXPECT_THAT(plan, ::testing::Not(HasSubstr("Sort")));
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
