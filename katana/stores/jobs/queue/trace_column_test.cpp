// Tests of a table of version 0.2.0, which has no column `trace`.
// The queue works without links, and adds the column where it may.
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/database/scripted_backend_test.hpp"
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using database::Kind;
using database::Order;
using database::Script;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class TraceColumnTest : public QueueTest {
 protected:
  TraceColumnTest() { reactor().tasks().set_failures(&failures); }
  ~TraceColumnTest() override { reactor().tasks().set_failures(nullptr); }

  // Queues a job within a span.
  void put_traced(JobQueue& queue) {
    Activity activity;
    activity.span = &producer_->current();
    const ActivityScope as(&activity);
    const auto queued = run(queue.enqueue_json("notes", "{}"));
    ASSERT_TRUE(queued) << queued.error().describe();
  }
  // Queues a job in a transaction, and commits it or rolls it back.
  std::string put_in_transaction(database::Database& database, JobQueue& queue, bool commits) {
    struct Body {
      static Task<std::string> run(database::Database& database, JobQueue& queue, bool commits) {
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
    return run(Body::run(database, queue, commits));
  }
  // How many of the jobs that wait have a link, and how many have none.
  std::pair<int, int> claim_links(JobQueue& queue) {
    const auto claimed = run(queue.table().claim("notes", 100, seconds(10), "first"));
    EXPECT_TRUE(claimed) << claimed.error().describe();
    std::pair<int, int> counts;
    if (!claimed) return counts;
    for (const ClaimedJob& job : *claimed) ++(job.trace.empty() ? counts.second : counts.first);
    return counts;
  }
  // Runs the statement of JobTable::trace_migrations(), as another process does.
  static Task<std::string> migrate(database::Database& database) {
    const database::Queries& queries = database;
    const auto done = co_await queries.execute(
        "ALTER TABLE katana_queue_jobs ADD COLUMN trace TEXT NOT NULL DEFAULT ''");
    co_return done ? "" : done.error().describe();
  }

  trace::Tracer tracer_{{.sampler = trace::Sampler::of_ratio(1)}};
  trace::RootRef producer_ = trace::Root::begin(tracer_);
};

TEST_F(TraceColumnTest, without_it_jobs_are_queued_and_claimed_and_one_warning_names_the_remedy) {
  testing::TemporaryDatabase old(JobTable::migrations(1));
  JobQueue queue(old.database(), {.make_table = false});
  put_traced(queue);
  put_traced(queue);
  EXPECT_EQ(put_in_transaction(old.database(), queue, true), "");
  EXPECT_EQ(claim_links(queue), std::pair(0, 3));
  pass(seconds(200), seconds(1));
  put_traced(queue);
  EXPECT_THAT(failures.lines, ElementsAre(HasSubstr("JobQueue::trace_migrations()")));
}

TEST_F(TraceColumnTest, one_that_a_migration_adds_meanwhile_is_found_within_a_minute) {
  testing::TemporaryDatabase old(JobTable::migrations(1));
  JobQueue queue(old.database(), {.make_table = false});
  put_traced(queue);
  ASSERT_EQ(run(migrate(old.database())), "");
  put_traced(queue);
  EXPECT_EQ(claim_links(queue), std::pair(0, 2));
  pass(TraceColumn::look_pause, seconds(1));
  put_traced(queue);
  EXPECT_EQ(claim_links(queue), std::pair(1, 0));
}

TEST_F(TraceColumnTest, a_transaction_of_sqlite_adds_it_and_takes_it_back_when_it_is_rolled_back) {
  testing::TemporaryDatabase old(JobTable::migrations(1));
  JobQueue queue(old.database());
  EXPECT_EQ(put_in_transaction(old.database(), queue, false), "");
  EXPECT_EQ(put_in_transaction(old.database(), queue, true), "");
  put_traced(queue);
  EXPECT_EQ(claim_links(queue), std::pair(1, 1));
  EXPECT_THAT(failures.lines, IsEmpty());
}

// ---- on a scripted PostgreSQL

class TraceColumnInPostgres : public TraceColumnTest {
 protected:
  TraceColumnInPostgres() {
    script_.answer = [this](const Script::Call& call) -> Script::Reply {
      if (call.text.starts_with("SELECT count(*) FROM pg_attribute")) {
        return {.columns = {"count"}, .rows = {{columns_}}};
      }
      if (call.text.starts_with("ALTER TABLE")) {
        columns_ += meanwhile_;
        return {.error = refusal_};
      }
      if (call.text.find("INSERT") == std::string::npos) return {.rows_changed = 1};
      return {.rows_changed = 1, .columns = {"id"}, .rows = {{++id_}}};
    };
  }
  std::size_t alters() const { return script_.begun_with("ALTER TABLE").size(); }
  // True: the last job that was queued has a link.
  bool is_last_linked() const {
    const auto inserted = script_.begun_with("WITH made");
    return !inserted.empty() && inserted.back().text.find("trace") != std::string::npos;
  }

  static Script of_postgres() {
    Script script;
    script.system = "postgresql";
    return script;
  }

  Script script_ = of_postgres();
  database::Database scripted_{std::make_unique<database::ScriptedBackend>(script_)};
  JobQueue queue_of_script_{scripted_};
  std::int64_t columns_ = 1;    // `queue` alone
  std::int64_t meanwhile_ = 0;  // that another process adds
  std::optional<database::Error> refusal_;
  std::int64_t id_ = 0;
};

TEST_F(TraceColumnInPostgres, it_is_added_in_a_transaction_that_waits_a_second_for_its_lock) {
  put_traced(queue_of_script_);
  const auto altered = script_.begun_with("ALTER TABLE");
  const auto limited = script_.begun_with("SET LOCAL lock_timeout = '1s'");
  ASSERT_THAT(altered, SizeIs(1));
  ASSERT_THAT(limited, SizeIs(1));
  EXPECT_NE(altered[0].transaction, 0u);
  EXPECT_EQ(limited[0].transaction, altered[0].transaction);
  EXPECT_EQ(script_.count_of(Order::commit), 1u);
  EXPECT_TRUE(is_last_linked());
  put_traced(queue_of_script_);
  EXPECT_THAT(script_.begun_with("SELECT count(*)"), SizeIs(1)) << "it is looked for once";
}

TEST_F(TraceColumnInPostgres, a_lock_that_others_hold_is_tried_for_four_times_with_pauses) {
  for (const Kind kind : {Kind::busy, Kind::conflict}) {
    script_.calls.clear();
    failures.lines.clear();
    refusal_.emplace(kind, "another transaction holds the lock");
    JobQueue queue(scripted_);
    for (std::size_t attempt = 1; attempt <= 4; ++attempt) {
      EXPECT_THAT(failures.lines, IsEmpty());
      put_traced(queue);
      put_traced(queue);  // at once: no further attempt
      EXPECT_EQ(alters(), attempt);
      EXPECT_FALSE(is_last_linked()) << "the job is queued all the same";
      pass(TraceColumn::add_pause, seconds(1));
    }
    pass(TraceColumn::look_pause, seconds(1));
    put_traced(queue);
    EXPECT_EQ(alters(), 4u);
    EXPECT_EQ(script_.count_of(Order::rollback), 4u);
    EXPECT_THAT(failures.lines, ElementsAre(AllOf(HasSubstr("run ALTER TABLE katana_queue_jobs"),
                                                  HasSubstr("holds the lock"))));
  }
}

TEST_F(TraceColumnInPostgres, an_error_that_stays_is_not_tried_again) {
  refusal_.emplace(Kind::syntax, "must be owner of table katana_queue_jobs");
  put_traced(queue_of_script_);
  EXPECT_THAT(failures.lines, ElementsAre(HasSubstr("must be owner")));
  for (int minute = 0; minute < 3; ++minute) {
    pass(TraceColumn::look_pause, seconds(1));
    put_traced(queue_of_script_);
  }
  EXPECT_EQ(alters(), 1u);
  EXPECT_FALSE(is_last_linked());
  EXPECT_THAT(failures.lines, SizeIs(1));
  columns_ = 2;  // the owner has added it
  pass(TraceColumn::look_pause, seconds(1));
  put_traced(queue_of_script_);
  EXPECT_TRUE(is_last_linked());
}

TEST_F(TraceColumnInPostgres, one_that_another_process_adds_at_the_same_time_is_used) {
  refusal_.emplace(Kind::syntax, "column \"trace\" already exists");
  meanwhile_ = 1;
  put_traced(queue_of_script_);
  EXPECT_TRUE(is_last_linked());
  EXPECT_THAT(failures.lines, IsEmpty());
}

TEST_F(TraceColumnInPostgres, one_call_of_a_process_adds_it_and_the_others_do_not_wait) {
  std::vector<Task<Result<Enqueued>>> tasks;
  for (int count = 0; count < 5; ++count) {
    tasks.push_back(queue_of_script_.enqueue_json("notes", "{}"));
    tasks.back().start();
  }
  for (int turns = 0; turns < 100; ++turns) turn();
  for (auto& task : tasks) {
    ASSERT_TRUE(task.done());
    EXPECT_TRUE(task.result());
  }
  EXPECT_EQ(alters(), 1u);
  EXPECT_THAT(script_.begun_with("WITH made"), SizeIs(5));
}

TEST_F(TraceColumnInPostgres, a_transaction_of_the_program_leaves_it_to_other_calls) {
  EXPECT_EQ(put_in_transaction(scripted_, queue_of_script_, true), "");
  EXPECT_EQ(alters(), 0u);
  EXPECT_FALSE(is_last_linked());
  put_traced(queue_of_script_);
  EXPECT_EQ(alters(), 1u);
  EXPECT_EQ(put_in_transaction(scripted_, queue_of_script_, true), "");
  EXPECT_TRUE(is_last_linked());
}

TEST_F(TraceColumnInPostgres, a_claim_does_without_it) {
  queue_of_script_.table().assume_made();
  ASSERT_TRUE(run(queue_of_script_.table().claim("notes", 1, seconds(1), "first")));
  const auto claimed = script_.begun_with("WITH picked");
  ASSERT_THAT(claimed, SizeIs(1));
  EXPECT_THAT(claimed[0].text, HasSubstr("''::text AS trace"));
}

TEST_F(TraceColumnInPostgres, a_search_that_fails_is_the_error_of_its_call) {
  script_.answer = [](const Script::Call& call) -> Script::Reply {
    if (call.text.starts_with("SELECT count(*)")) {
      return {.error = database::Error(Kind::unavailable, "the database is away")};
    }
    return {.rows_changed = 1};
  };
  const auto queued = run(queue_of_script_.enqueue_json("notes", "{}"));
  ASSERT_FALSE(queued);
  EXPECT_THAT(queued.error().describe(), HasSubstr("the queue 'notes': the database is away"));
  EXPECT_FALSE(run(queue_of_script_.table().claim("notes", 1, seconds(1), "first")));
  EXPECT_EQ(alters(), 0u);
}

TEST_F(TraceColumnInPostgres, looking_at_jobs_does_not_add_it) {
  (void)run(queue_of_script_.depth("notes"));
  (void)run(queue_of_script_.list("notes", JobState::dead));
  EXPECT_EQ(alters(), 0u);
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
