// Tests of a worker that loses a lease or an answer, and of the bounds of queued jobs.
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class QueueRulesTest : public QueueTest {
 protected:
  // Takes the lease away, as another process does after a pause of the machine.
  void take_away() {
    auto task = [&]() -> Task<bool> {
      auto changed = co_await db().execute(
          "UPDATE katana_queue_jobs SET fence = fence + 1, worker = 'thief' WHERE state = 1");
      co_return changed && *changed == 1;
    };
    EXPECT_TRUE(run(task()));
  }
  void give_back() {
    auto task = [&]() -> Task<bool> {
      auto changed = co_await db().execute(
          "UPDATE katana_queue_jobs SET state = 0, until_us = 0, worker = '' WHERE state = 1");
      co_return changed && *changed == 1;
    };
    EXPECT_TRUE(run(task()));
  }
  void remove_rows() {
    auto task = [&]() -> Task<bool> {
      auto changed = co_await db().execute("DELETE FROM katana_queue_jobs");
      co_return changed && *changed == 1;
    };
    EXPECT_TRUE(run(task()));
  }
  static Result<void> check(EnqueueOptions options) { return options.check(); }
  static Result<void> check(HandlerOptions options) { return options.check("notes"); }
};

// ---- leases

TEST_F(QueueRulesTest, a_lost_lease_is_not_renewed_although_the_row_is_still_the_workers) {
  takes = seconds(60);
  Delivery* seen = nullptr;
  on_begin = [&](const Note&, Delivery& delivery) { seen = &delivery; };
  work({.lease = seconds(9), .stop_grace = seconds(4)});
  put(1);
  pass(milliseconds(500));
  ASSERT_NE(seen, nullptr);
  faults().unavailable();
  while (!seen->is_stopped() && now_s() < times[0] + 9) pass(milliseconds(50));
  ASSERT_EQ(seen->stopped(), Stopped::lease_lost);
  faults().heal();
  const std::vector<JobInfo> before = jobs(JobState::running);
  ASSERT_THAT(before, SizeIs(1));
  pass(milliseconds(3500));  // a renewal is due, and the handler goes on within its grace
  const std::vector<JobInfo> after = jobs(JobState::running);
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].until_us, before[0].until_us);
  EXPECT_EQ(ended(Ended::lost), 0u);
}

TEST_F(QueueRulesTest, a_renewal_of_a_later_claim_does_not_count_for_the_earlier_one) {
  takes = seconds(60);
  std::vector<Delivery*> seen;
  on_begin = [&](const Note&, Delivery& delivery) { seen.push_back(&delivery); };
  work(
      {.concurrency = 2, .lease = seconds(9), .poll = milliseconds(200), .stop_grace = seconds(4)});
  put(1);
  pass(milliseconds(500));
  give_back();  // as expire() of another worker does, after a pause of this one
  pass(milliseconds(500));
  ASSERT_THAT(fences, ElementsAre(1, 2));
  pass(seconds(3));  // both are renewed
  EXPECT_EQ(seen[0]->stopped(), Stopped::lease_lost);
  EXPECT_EQ(seen[1]->stopped(), Stopped::no);
  takes = {};
}

TEST_F(QueueRulesTest, an_end_is_not_noted_beyond_the_lease) {
  takes = seconds(1);
  work({.lease = seconds(4), .stop_grace = seconds(1), .dead_kept = seconds(60)});
  put(1);
  pass(milliseconds(500));
  faults().unavailable();
  pass(milliseconds(3000));
  EXPECT_THAT(done, ElementsAre(1));
  EXPECT_EQ(ended(Ended::unknown), 0u) << "within the lease it is tried again";
  pass(milliseconds(700));
  EXPECT_EQ(ended(Ended::unknown), 1u);
  EXPECT_THAT(failures.lines, Contains(HasSubstr("was not noted while its lease lasted")));
  faults().heal();
  pass(seconds(5));
  EXPECT_THAT(done, ElementsAre(1, 1)) << "it is done again";
}

TEST_F(QueueRulesTest, an_end_that_an_answer_was_lost_of_is_no_lost_lease) {
  takes = seconds(1);
  work({.lease = seconds(30)});
  put(1);
  pass(milliseconds(900));
  faults().fail_next(
      database::Error(database::Kind::unknown_outcome, "the connection was lost meanwhile"));
  pass(milliseconds(150));
  ASSERT_THAT(done, ElementsAre(1));
  remove_rows();  // the statement did its work, although its answer was lost
  pass(milliseconds(500));
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_EQ(ended(Ended::lost), 0u);
}

TEST_F(QueueRulesTest, an_end_that_is_refused_and_then_finds_no_lease_is_a_lost_one) {
  takes = seconds(1);
  work({.lease = seconds(30)});
  put(1);
  pass(milliseconds(900));
  faults().fail_next(database::Error(database::Kind::unavailable, "the database is busy"));
  pass(milliseconds(150));
  ASSERT_THAT(done, ElementsAre(1));
  take_away();
  pass(milliseconds(500));
  EXPECT_EQ(ended(Ended::done), 0u);
  EXPECT_EQ(ended(Ended::lost), 1u);
}

TEST_F(QueueRulesTest, a_failure_of_a_worker_that_lost_its_lease_changes_nothing) {
  takes = seconds(1);
  on_note = [&](const Note& note, Delivery& delivery) -> Result<void> {
    if (note.number == 2) delivery.give_up();
    return fail(Code::unavailable, "away");
  };
  work({.lease = seconds(30)});
  for (const std::int64_t number : {1, 2}) {
    put(number);
    pass(milliseconds(500));
    take_away();
    pass(seconds(1));
    EXPECT_EQ(ended(Ended::lost), static_cast<std::uint64_t>(number));
    const std::vector<JobInfo> left = jobs(JobState::running);
    ASSERT_THAT(left, SizeIs(1));
    EXPECT_EQ(left[0].failure, "");
    remove_rows();
  }
}

TEST_F(QueueRulesTest, a_job_that_is_given_back_by_a_worker_that_lost_its_lease_stays_the_thiefs) {
  takes = seconds(100);
  work({.lease = seconds(60), .drain_grace = seconds(1)});
  put(1);
  pass(milliseconds(500));
  take_away();
  reactor().request_drain(seconds(10));
  pass(seconds(4));
  EXPECT_THAT(jobs(JobState::running), SizeIs(1));
  EXPECT_EQ(ended(Ended::lost), 1u);
  EXPECT_EQ(ended(Ended::given_back), 0u);
}

TEST_F(QueueRulesTest, a_job_is_not_completed_in_a_transaction_after_its_lease_was_lost) {
  Result<void> completed;
  struct Effects {
    Task<Result<void>> apply(database::Database& database, Delivery& delivery, Result<void>& told) {
      co_await net::sleep_for(seconds(1));
      auto transaction = co_await database.begin();
      if (!transaction) co_return std::unexpected(transaction.error());
      told = co_await delivery.complete_in(*transaction);
      (void)co_await transaction->rollback();
      co_return told;
    }
  };
  Effects effects;
  workers_.push_back(std::make_unique<Worker>(queue()));
  workers_[0]->handle<Note>(
      "notes", [&](Note, Delivery& delivery) { return effects.apply(db(), delivery, completed); });
  begin(*workers_[0]);
  put(1);
  pass(milliseconds(500));
  take_away();
  pass(seconds(1));
  ASSERT_FALSE(completed);
  EXPECT_EQ(completed.error().code(), Code::cancelled);
  EXPECT_EQ(ended(Ended::lost), 1u);
  EXPECT_THAT(jobs(JobState::running), SizeIs(1));
}

TEST_F(QueueRulesTest, a_renewed_lease_lasts_through_an_outage_that_is_shorter) {
  takes = seconds(60);
  Delivery* seen = nullptr;
  on_begin = [&](const Note&, Delivery& delivery) { seen = &delivery; };
  work({.lease = seconds(9), .stop_grace = seconds(1)});
  put(1);
  pass(seconds(20), milliseconds(100));
  ASSERT_NE(seen, nullptr);
  faults().unavailable();
  pass(seconds(3));
  faults().heal();
  pass(seconds(3));
  EXPECT_EQ(seen->stopped(), Stopped::no);
}

TEST_F(QueueRulesTest, a_job_that_was_completed_in_a_transaction_needs_no_other_statement) {
  struct Effects {
    Task<Result<void>> apply(database::Database& database, Delivery& delivery,
                             testing::DatabaseFaults& faults) {
      auto transaction = co_await database.begin();
      if (!transaction) co_return std::unexpected(transaction.error());
      const Result<void> completed = co_await delivery.complete_in(*transaction);
      if (!completed) co_return completed;
      auto committed = co_await transaction->commit();
      if (!committed) co_return std::unexpected(committed.error());
      faults.unavailable();
      co_return {};
    }
  };
  Effects effects;
  workers_.push_back(std::make_unique<Worker>(queue()));
  workers_[0]->handle<Note>(
      "notes", [&](Note, Delivery& delivery) { return effects.apply(db(), delivery, faults()); });
  begin(*workers_[0]);
  put(1);
  pass(milliseconds(200));
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_EQ(workers_[0]->running(), 0u);
}

TEST_F(QueueRulesTest, a_job_whose_lease_is_over_is_begun_without_waiting_for_the_poll) {
  put(1);
  ASSERT_THAT(*run(queue().table().claim("notes", 1, seconds(4), "the dead")), SizeIs(1));
  work({.lease = seconds(4), .poll = seconds(600)});
  pass(seconds(8));
  EXPECT_THAT(done, ElementsAre(1));
}

TEST_F(QueueRulesTest, a_backlog_is_worked_off_without_waiting_for_the_poll) {
  for (int number = 1; number <= 20; ++number) put(number);
  work({.concurrency = 2, .poll = seconds(600)});
  pass(seconds(2));
  EXPECT_THAT(done, SizeIs(20));
}

// ---- attempts and pauses

TEST_F(QueueRulesTest, a_revived_dead_letter_has_all_of_its_attempts_again) {
  on_note = [&](const Note&, Delivery&) -> Result<void> { return fail(Code::internal, "defect"); };
  work({.attempts_max = 2, .backoff_min = milliseconds(2), .poll = milliseconds(50)});
  const std::int64_t id = put(1);
  pass(seconds(2));
  EXPECT_THAT(taken, SizeIs(2));
  ASSERT_TRUE(run(queue().retry("notes", id)));
  pass(seconds(2));
  EXPECT_THAT(taken, SizeIs(4));
  const std::vector<JobInfo> dead = jobs(JobState::dead);
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].attempts, 2);
}

TEST_F(QueueRulesTest, a_pause_is_never_longer_than_backoff_max_nor_shorter_than_half_of_it) {
  const HandlerOptions options{.backoff_min = seconds(1), .backoff_max = seconds(60)};
  const auto half_of = [](Duration duration) {
    return static_cast<std::uint64_t>(duration.ns / 2);
  };
  EXPECT_EQ(backoff_of(options, 1, 0), milliseconds(500));
  EXPECT_EQ(backoff_of(options, 1, half_of(seconds(1))), seconds(1));
  EXPECT_EQ(backoff_of(options, 2, half_of(seconds(2))), seconds(2));
  EXPECT_EQ(backoff_of(options, 6, half_of(seconds(32))), seconds(32));
  for (const std::uint64_t failed : {7u, 8u, 1000u}) {
    EXPECT_EQ(backoff_of(options, failed, 0), seconds(30)) << failed;
    EXPECT_EQ(backoff_of(options, failed, half_of(seconds(60))), seconds(60)) << failed;
    EXPECT_EQ(backoff_of(options, failed, half_of(seconds(60)) + 1), seconds(30)) << failed;
  }
}

TEST_F(QueueRulesTest, a_failure_is_kept_up_to_its_bound) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    delivery.give_up();
    return fail(Code::internal, std::string(5000, 'x'));
  };
  work();
  put(1);
  pass(seconds(1));
  const std::vector<JobInfo> dead = jobs(JobState::dead);
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].failure.size(), failure_bytes_max);
}

// ---- bounds of queued jobs

TEST_F(QueueRulesTest, a_key_has_no_zero_byte_and_at_most_255_bytes) {
  EXPECT_TRUE(check(EnqueueOptions{.key = std::string(255, 'k')}));
  EXPECT_FALSE(check(EnqueueOptions{.key = std::string(256, 'k')}));
  EXPECT_FALSE(check(EnqueueOptions{.key = std::string("a\0b", 3)}));
  EXPECT_FALSE(check(EnqueueOptions{.key = std::string(1, '\0')}));
}

TEST_F(QueueRulesTest, a_priority_and_a_delay_are_taken_up_to_their_bounds) {
  for (const int priority : {-100, 100}) EXPECT_TRUE(check(EnqueueOptions{.priority = priority}));
  for (const int priority : {-101, 101}) EXPECT_FALSE(check(EnqueueOptions{.priority = priority}));
  const Duration longest = seconds(std::int64_t{3660} * 24 * 3600);
  EXPECT_TRUE(check(EnqueueOptions{.delay = longest}));
  EXPECT_FALSE(check(EnqueueOptions{.delay = Duration{longest.ns + 1}}));
  EXPECT_FALSE(check(EnqueueOptions{.delay = Duration{-1}}));
}

TEST_F(QueueRulesTest, a_payload_is_taken_up_to_its_bound) {
  JobQueue small(db(), {.payload_bytes_max = 4});
  EXPECT_TRUE(run(small.enqueue_json("notes", "1234")));
  const auto refused = run(small.enqueue_json("notes", "12345"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::out_of_range);
}

TEST_F(QueueRulesTest, a_queue_has_a_name_of_64_bytes_of_its_characters_at_most) {
  EXPECT_TRUE(check_name(std::string(64, 'a')));
  EXPECT_FALSE(check_name(std::string(65, 'a')));
  EXPECT_TRUE(check_name("azAZ09-_."));
  for (const char* const wrong : {"`", "{", "@", "[", "/", ":", "a b", "\xc3\xa4"}) {
    EXPECT_FALSE(check_name(wrong)) << wrong;
  }
}

TEST_F(QueueRulesTest, options_of_a_handler_are_taken_up_to_their_bounds) {
  const auto is_right = [](auto change) {
    HandlerOptions options;
    change(options);
    return check(options).has_value();
  };
  const auto is_bounded = [&](auto member, auto least, auto most) {
    EXPECT_TRUE(is_right([&](HandlerOptions& options) { options.*member = least; }));
    EXPECT_TRUE(is_right([&](HandlerOptions& options) { options.*member = most; }));
    if constexpr (std::is_same_v<decltype(least), Duration>) {
      EXPECT_FALSE(is_right([&](HandlerOptions& o) { o.*member = Duration{least.ns - 1}; }));
      EXPECT_FALSE(is_right([&](HandlerOptions& o) { o.*member = Duration{most.ns + 1}; }));
    } else {
      EXPECT_FALSE(is_right([&](HandlerOptions& o) { o.*member = least - 1; }));
      EXPECT_FALSE(is_right([&](HandlerOptions& o) { o.*member = most + 1; }));
    }
  };
  const std::int64_t day_s = 24 * 3600;
  EXPECT_FALSE(HandlerOptions().check("a b")) << "the name of the queue";
  is_bounded(&HandlerOptions::concurrency, 1u, 10'000u);
  is_bounded(&HandlerOptions::attempts_max, 1u, 1000u);
  is_bounded(&HandlerOptions::timeout, milliseconds(1), seconds(7 * day_s));
  is_bounded(&HandlerOptions::lease, seconds(2), seconds(day_s));            // twice the stop_grace
  is_bounded(&HandlerOptions::backoff_min, milliseconds(1), seconds(3600));  // the backoff_max
  is_bounded(&HandlerOptions::backoff_max, seconds(1), seconds(30 * day_s));
  is_bounded(&HandlerOptions::poll, milliseconds(1), seconds(3600));
  is_bounded(&HandlerOptions::stop_grace, Duration{}, seconds(15));
  is_bounded(&HandlerOptions::drain_grace, Duration{}, seconds(day_s));
  is_bounded(&HandlerOptions::done_kept, Duration{}, seconds(3660 * day_s));
  is_bounded(&HandlerOptions::dead_kept, Duration{}, seconds(3660 * day_s));
  HandlerOptions shortest{.lease = milliseconds(100), .stop_grace = milliseconds(50)};
  EXPECT_TRUE(check(shortest));
  shortest.lease = milliseconds(99);
  shortest.stop_grace = {};
  EXPECT_FALSE(check(shortest));
}

TEST_F(QueueRulesTest, retry_of_no_id_revives_no_dead_letter) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    delivery.give_up();
    return fail(Code::internal, "defect");
  };
  work();
  put(1);
  pass(seconds(1));
  for (const std::int64_t none : {0, -1}) {
    EXPECT_EQ(run(queue().retry("notes", none)).error().code(), Code::not_found);
  }
  EXPECT_THAT(jobs(JobState::dead), SizeIs(1));
}

TEST_F(QueueRulesTest, a_list_has_at_most_a_thousand_jobs) {
  ASSERT_TRUE(run(queue().depth("notes")));
  auto fill = [&]() -> Task<bool> {
    auto added = co_await db().execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) INSERT "
        "INTO katana_queue_jobs (queue, state, priority, rank_us, due_us, until_us, queued_us, "
        "attempts, fence, key_lasts, payload, failure, worker, request_id) SELECT 'notes', 3, 0, "
        "i, i, i, i, 1, 1, 1, '{}', '', '', '' FROM n");
    co_return added && *added == 1001;
  };
  ASSERT_TRUE(run(fill()));
  EXPECT_THAT(*run(queue().list("notes", JobState::dead, 0, 5000)), SizeIs(1000));
  EXPECT_EQ(run(queue().retry_all("notes")), 1000);
  EXPECT_EQ(run(queue().retry_all("notes")), 1);
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
