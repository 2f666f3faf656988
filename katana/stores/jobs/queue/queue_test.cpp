// Tests of queued jobs and of the times when they are done, in virtual time.
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST_F(QueueTest, a_job_is_done_and_its_row_is_gone) {
  work();
  pass(milliseconds(50));
  put(7);
  pass(milliseconds(50));
  EXPECT_THAT(done, ElementsAre(7));
  EXPECT_TRUE(jobs(JobState::waiting).empty());
  EXPECT_TRUE(jobs(JobState::running).empty());
  EXPECT_TRUE(jobs(JobState::done).empty());
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_TRUE(failures.lines.empty());
}

TEST_F(QueueTest, a_job_of_a_transaction_is_there_when_that_is_committed_and_not_before) {
  work();
  pass(milliseconds(50));
  auto walk = [&](bool commits) -> Task<std::string> {
    auto transaction = co_await db().begin();
    if (!transaction) co_return transaction.error().describe();
    const Note note{1, "x"};
    const auto queued = co_await queue().enqueue(*transaction, "notes", note);
    if (!queued) co_return queued.error().describe();
    co_await net::sleep_for(milliseconds(300));  // the worker is woken meanwhile
    if (!done.empty()) co_return "done before the commit";
    if (commits) {
      const auto committed = co_await transaction->commit();
      if (!committed) co_return committed.error().describe();
    } else {
      (void)co_await transaction->rollback();
    }
    co_return "";
  };
  for (const bool commits : {false, true}) {
    auto task = walk(commits);
    task.start();
    pass(milliseconds(400));
    ASSERT_TRUE(task.done());
    EXPECT_EQ(task.result(), "");
    // No poll found it: the claim waited for the end of the transaction.
    EXPECT_EQ(done.size(), commits ? 1u : 0u);
  }
}

TEST_F(QueueTest, an_idle_worker_is_woken_at_once_and_does_not_wait_for_its_poll) {
  work({.poll = seconds(600)});
  pass(seconds(2));
  const double before = now_s();
  put(1);
  pass(milliseconds(50));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_LT(times[0] - before, 0.05);
}

TEST_F(QueueTest, what_others_queue_is_found_by_the_poll) {
  work({.poll = seconds(1)});
  pass(seconds(1));
  JobQueue other(db());
  const Note note{4, "from elsewhere"};
  ASSERT_TRUE(run(other.enqueue("notes", note)));
  pass(milliseconds(1300));
  EXPECT_THAT(done, ElementsAre(4));
}

TEST_F(QueueTest, jobs_are_begun_in_the_order_in_which_they_are_due) {
  for (int number = 1; number <= 20; ++number) put(number);
  work({.concurrency = 1});
  pass(seconds(1));
  std::vector<std::int64_t> expected(20);
  for (int number = 1; number <= 20; ++number)
    expected[static_cast<std::size_t>(number - 1)] = number;
  EXPECT_EQ(done, expected);
}

TEST_F(QueueTest, a_priority_is_a_head_start_and_starves_nobody) {
  put(1);                                 // due at 1000 s
  pass(seconds(130), milliseconds(500));  // … 1130 s
  put(2, {.priority = 1});                // as if due at 1070 s
  put(3, {.priority = 3});                // 950 s: before the first
  put(4, {.priority = -1});
  put(5);
  takes = milliseconds(10);
  work({.concurrency = 1});
  pass(seconds(1));
  EXPECT_THAT(done, ElementsAre(3, 1, 2, 5, 4));
}

TEST_F(QueueTest, a_delayed_job_waits_for_its_time) {
  work({.poll = milliseconds(100)});
  put(1, {.delay = seconds(10)});
  pass(milliseconds(9900));
  EXPECT_TRUE(done.empty());
  pass(milliseconds(300));
  EXPECT_THAT(done, ElementsAre(1));
}

TEST_F(QueueTest, no_more_than_concurrency_jobs_run_at_once) {
  for (int number = 1; number <= 100; ++number) put(number);
  takes = milliseconds(100);
  work({.concurrency = 4});
  pass(seconds(6));
  EXPECT_EQ(at_once_most, 4u);
  EXPECT_EQ(done.size(), 100u);
}

TEST_F(QueueTest, a_backlog_is_claimed_in_batches) {
  for (int number = 1; number <= 200; ++number) put(number);
  takes = milliseconds(1);
  work({.concurrency = 16});
  pass(seconds(2), milliseconds(1));
  EXPECT_EQ(done.size(), 200u);
  const auto instruments = QueueInstruments::make(metrics_, "notes");
  EXPECT_LT(instruments->claims.value(), 40u);
}

TEST_F(QueueTest, a_backlog_of_one_queue_does_not_keep_another_waiting) {
  for (int number = 1; number <= 50; ++number) put(number);
  takes = seconds(1);
  std::vector<std::int64_t> letters;
  workers_.push_back(std::make_unique<Worker>(queue()));
  workers_[0]->handle<Note>("letters", [&](Note note) -> Task<void> {
    letters.push_back(note.number);
    co_return;
  });
  begin(*workers_[0]);
  work({.concurrency = 2});
  pass(seconds(2));
  EXPECT_LT(done.size(), 10u);
  put(99, {}, "letters");
  pass(milliseconds(100));
  EXPECT_THAT(letters, ElementsAre(99));
}

TEST_F(QueueTest, a_key_lets_one_job_in_until_it_is_done) {
  takes = seconds(1);
  const std::int64_t first = put(1, {.key = "user 7"});
  EXPECT_EQ(put(2, {.key = "user 7"}), first);
  EXPECT_NE(put(3, {.key = "user 8"}), first);
  work({.concurrency = 1});
  pass(milliseconds(500));
  EXPECT_EQ(put(4, {.key = "user 7"}), first);  // it runs
  pass(milliseconds(700));
  EXPECT_NE(put(5, {.key = "user 7"}), first);  // it is done
  pass(seconds(3));
  EXPECT_THAT(done, ElementsAre(1, 3, 5));
  EXPECT_EQ(queue().counts().known, 2u);
}

TEST_F(QueueTest, a_key_until_begun_lets_another_in_while_the_first_runs) {
  takes = seconds(1);
  const std::int64_t first = put(1, {.key = "k", .key_lasts = KeyLasts::until_begun});
  EXPECT_EQ(put(2, {.key = "k", .key_lasts = KeyLasts::until_begun}), first);
  work({.concurrency = 1});
  pass(milliseconds(500));
  EXPECT_NE(put(3, {.key = "k", .key_lasts = KeyLasts::until_begun}), first);
  pass(seconds(3));
  EXPECT_THAT(done, ElementsAre(1, 3));
}

TEST_F(QueueTest, a_key_until_removed_keeps_others_out_for_as_long_as_the_done_job_is_kept) {
  work({.lease = seconds(4), .done_kept = seconds(60)});
  const std::int64_t first = put(1, {.key = "k", .key_lasts = KeyLasts::until_removed});
  pass(seconds(30), milliseconds(200));
  EXPECT_THAT(done, ElementsAre(1));
  EXPECT_EQ(jobs(JobState::done).size(), 1u);
  EXPECT_EQ(put(2, {.key = "k", .key_lasts = KeyLasts::until_removed}), first);
  pass(seconds(40), milliseconds(200));
  EXPECT_TRUE(jobs(JobState::done).empty());
  EXPECT_NE(put(3, {.key = "k", .key_lasts = KeyLasts::until_removed}), first);
  pass(seconds(1));
  EXPECT_THAT(done, ElementsAre(1, 3));
}

TEST_F(QueueTest, done_jobs_are_kept_up_to_their_number) {
  work({.lease = seconds(4), .done_kept = seconds(3600), .done_max = 10});
  for (int number = 1; number <= 25; ++number) put(number);
  pass(seconds(10), milliseconds(200));
  EXPECT_EQ(done.size(), 25u);
  EXPECT_EQ(jobs(JobState::done).size(), 10u);
}

TEST_F(QueueTest, what_cannot_be_queued_is_refused_with_its_reason) {
  const auto why = [&](std::string name, const Note& note, EnqueueOptions options) {
    const auto queued = run(queue().enqueue(std::move(name), note, options));
    return queued ? "queued" : queued.error().describe();
  };
  EXPECT_THAT(why("a b", {}, {}), HasSubstr("'a b' is no name of a queue"));
  EXPECT_THAT(why("", {}, {}), HasSubstr("is no name of a queue"));
  EXPECT_THAT(why("notes", {}, {.priority = 101}), HasSubstr("priority 101"));
  EXPECT_THAT(why("notes", {}, {.delay = seconds(-1)}), HasSubstr("delay"));
  EXPECT_THAT(why("notes", {}, {.key = std::string(256, 'k')}), HasSubstr("256 bytes"));
  EXPECT_THAT(why("notes", {1, std::string(70'000, 'x')}, {}), HasSubstr("more than 65536"));
  const auto zero = run(queue().enqueue_json("notes", std::string("a\0b", 3)));
  EXPECT_THAT(zero.error().describe(), HasSubstr("zero byte"));
  EXPECT_TRUE(run(queue().depth("notes"))->ready == 0);
}

TEST_F(QueueTest, a_worker_is_checked_before_it_starts) {
  const auto why = [&](HandlerOptions options) {
    Worker worker(queue());
    worker.handle<Note>("notes", [](Note) -> Task<void> { co_return; }, options);
    const auto checked = worker.check();
    return checked ? "right" : checked.error().describe();
  };
  EXPECT_EQ(why({}), "right");
  EXPECT_THAT(why({.concurrency = 0}), HasSubstr("concurrency 0"));
  EXPECT_THAT(why({.attempts_max = 0}), HasSubstr("attempts_max 0"));
  EXPECT_THAT(why({.lease = milliseconds(1)}), HasSubstr("lease of 1 ms"));
  EXPECT_THAT(why({.lease = seconds(1), .stop_grace = seconds(1)}), HasSubstr("stop_grace"));
  EXPECT_THAT(why({.backoff_min = seconds(10), .backoff_max = seconds(1)}),
              HasSubstr("backoff_max"));
  Worker worker(queue());
  worker.handle<Note>("notes", [](Note) -> Task<void> { co_return; });
  worker.handle<Note>("notes", [](Note) -> Task<void> { co_return; });
  EXPECT_THAT(worker.check().error().describe(), HasSubstr("'notes' has two handlers"));
}

TEST_F(QueueTest, the_depth_says_what_waits) {
  put(1);
  put(2, {.delay = seconds(60)});
  pass(seconds(3));
  const auto depth = run(queue().depth("notes"));
  EXPECT_EQ(depth->ready, 1);
  EXPECT_EQ(depth->delayed, 1);
  EXPECT_EQ(depth->dead, 0);
  EXPECT_NEAR(static_cast<double>(depth->waited_us) / 1e6, 3, 0.2);
}

TEST(QueueMigrations, make_the_table_that_the_queue_uses) {
  ::katana::testing::TemporaryDatabase database(JobQueue::migrations(1));
  EXPECT_EQ(database.problem(), "");
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
