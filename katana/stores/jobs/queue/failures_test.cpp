// Tests of jobs whose handlers fail, whose workers die, and whose database does not answer.
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

class QueueFailuresTest : public QueueTest {
 protected:
  // A process claims the jobs that there are, and dies.
  std::size_t claim_and_die(std::int64_t count = 100, Duration lease = seconds(30)) {
    const auto claimed = run(queue().table().claim("notes", count, lease, "the dead"));
    EXPECT_TRUE(claimed) << claimed.error().describe();
    return claimed ? claimed->size() : 0;
  }
};

TEST_F(QueueFailuresTest, a_job_that_fails_is_tried_again_after_growing_pauses) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    if (delivery.attempt() < 4) return fail(Code::unavailable, "the mail server is away");
    return {};
  };
  work({.backoff_min = seconds(2), .poll = milliseconds(50)});
  put(1);
  pass(seconds(20));
  ASSERT_EQ(times.size(), 4u);
  for (std::size_t index = 1; index < 4; ++index) {
    const double most = 1 << index;
    EXPECT_GE(times[index] - times[index - 1], most / 2) << index;
    EXPECT_LE(times[index] - times[index - 1], most + 0.2) << index;
  }
  EXPECT_THAT(done, ElementsAre(1));
  EXPECT_THAT(fences, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(ended(Ended::retried), 3u);
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_THAT(failures.lines, Contains(HasSubstr("queue notes")));
  EXPECT_THAT(failures.lines, Contains(HasSubstr("the mail server is away")));
}

TEST_F(QueueFailuresTest, the_pause_is_bounded_and_jittered) {
  HandlerOptions options{.backoff_min = seconds(1), .backoff_max = seconds(60)};
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{12345}, UINT64_MAX}) {
    for (std::uint64_t failures_in_a_row = 1; failures_in_a_row < 200; ++failures_in_a_row) {
      const Duration pause = backoff_of(options, failures_in_a_row, random);
      const double whole =
          failures_in_a_row < 7 ? static_cast<double>(1 << (failures_in_a_row - 1)) : 60.0;
      EXPECT_THAT(milliseconds_of(pause) / 1000, ::testing::AllOf(Ge(whole / 2), Le(whole)));
    }
  }
}

TEST_F(QueueFailuresTest, a_handler_says_when_it_wants_the_job_again) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    if (delivery.attempt() > 1) return {};
    delivery.retry_after(seconds(30));
    return fail(Code::resource_exhausted, "429");
  };
  work({.poll = milliseconds(100)});
  put(1);
  pass(seconds(29), milliseconds(100));
  EXPECT_EQ(taken.size(), 1u);
  pass(seconds(2), milliseconds(100));
  EXPECT_THAT(done, ElementsAre(1));
}

TEST_F(QueueFailuresTest, a_job_that_never_succeeds_is_a_dead_letter_and_the_others_go_on) {
  on_note = [&](const Note& note, Delivery&) -> Result<void> {
    if (note.number == 2) throw std::runtime_error("poison");
    return {};
  };
  work({.concurrency = 1, .attempts_max = 3, .backoff_min = milliseconds(100)});
  for (int number = 1; number <= 3; ++number) put(number);
  pass(seconds(10));
  EXPECT_THAT(done, ElementsAre(1, 3));
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 2, 2));
  const std::vector<JobInfo> dead = jobs(JobState::dead);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].attempts, 3);
  EXPECT_THAT(dead[0].failure, HasSubstr("poison"));
  EXPECT_EQ(dead[0].payload, R"({"number":2,"text":"note"})");
  EXPECT_EQ(ended(Ended::dead), 1u);
  EXPECT_EQ(ended(Ended::retried), 2u);
}

TEST_F(QueueFailuresTest, a_handler_gives_up_at_once) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    delivery.give_up();
    return fail(Code::not_found, "no such user");
  };
  work();
  put(1);
  pass(seconds(1));
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(jobs(JobState::dead).size(), 1u);
}

TEST_F(QueueFailuresTest, dead_letters_are_retried_and_discarded) {
  bool fails = true;
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    if (!fails) return {};
    delivery.give_up();
    return fail(Code::internal, "a defect");
  };
  work({.poll = seconds(600)});
  const std::int64_t one = put(1), two = put(2);
  put(3);
  pass(seconds(1));
  EXPECT_EQ(jobs(JobState::dead).size(), 3u);
  fails = false;
  EXPECT_TRUE(run(queue().discard("notes", two)));
  EXPECT_EQ(run(queue().discard("notes", two)).error().code(), Code::not_found);
  EXPECT_TRUE(run(queue().retry("notes", one)));
  EXPECT_EQ(run(queue().retry("notes", one)).error().code(), Code::not_found);
  pass(milliseconds(100));
  EXPECT_THAT(done, ElementsAre(1));
  EXPECT_EQ(run(queue().retry_all("notes")), 1);
  pass(milliseconds(100));
  EXPECT_THAT(done, ElementsAre(1, 3));
  EXPECT_TRUE(jobs(JobState::dead).empty());
}

TEST_F(QueueFailuresTest, a_dead_letter_whose_key_has_another_job_is_not_retried) {
  work();
  on_note = [&](const Note& note, Delivery& delivery) -> Result<void> {
    if (note.number != 1) return {};
    delivery.give_up();
    return fail(Code::internal, "a defect");
  };
  const std::int64_t dead = put(1, {.key = "k"});
  pass(seconds(1));
  const std::int64_t next = put(2, {.delay = seconds(60), .key = "k"});
  EXPECT_NE(next, dead);
  const auto retried = run(queue().retry("notes", dead));
  ASSERT_FALSE(retried);
  EXPECT_EQ(retried.error().code(), Code::already_exists);
}

TEST_F(QueueFailuresTest, dead_letters_are_kept_for_their_time_and_up_to_their_number) {
  on_note = [&](const Note&, Delivery& delivery) -> Result<void> {
    delivery.give_up();
    return fail(Code::internal, "a defect");
  };
  work({.lease = seconds(4), .dead_kept = seconds(60), .dead_max = 4});
  for (int number = 1; number <= 9; ++number) put(number);
  pass(seconds(10), milliseconds(200));
  EXPECT_EQ(jobs(JobState::dead).size(), 4u);
  pass(seconds(60), milliseconds(200));
  EXPECT_TRUE(jobs(JobState::dead).empty());
}

TEST_F(QueueFailuresTest, a_payload_that_cannot_be_read_is_a_failed_attempt) {
  work({.attempts_max = 2, .backoff_min = milliseconds(100)});
  ASSERT_TRUE(run(queue().enqueue_json("notes", R"({"number":"x"})")));
  pass(seconds(4));
  EXPECT_TRUE(taken.empty());
  const std::vector<JobInfo> dead = jobs(JobState::dead);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_THAT(dead[0].failure, HasSubstr("payload"));
}

TEST_F(QueueFailuresTest, an_attempt_that_takes_too_long_is_cancelled_and_has_failed) {
  takes = seconds(100);
  work({.attempts_max = 1, .timeout = seconds(5)});
  put(1);
  pass(seconds(6));
  EXPECT_TRUE(done.empty());
  const std::vector<JobInfo> dead = jobs(JobState::dead);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_THAT(dead[0].failure, HasSubstr("not done within 5000 ms"));
}

TEST_F(QueueFailuresTest, jobs_of_a_worker_that_died_are_done_when_its_lease_is_over) {
  for (int number = 1; number <= 3; ++number) put(number);
  EXPECT_EQ(claim_and_die(), 3u);
  work({.lease = seconds(10)});
  pass(seconds(29), milliseconds(100));
  EXPECT_TRUE(done.empty());
  pass(seconds(8), milliseconds(100));
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_THAT(fences, ElementsAre(2, 2, 2));
  EXPECT_EQ(QueueInstruments::make(metrics_, "notes")->expired.value(), 3u);
}

TEST_F(QueueFailuresTest, a_job_that_kills_its_workers_is_a_dead_letter_in_the_end) {
  put(1);
  work({.concurrency = 1, .attempts_max = 3, .lease = seconds(4)});
  takes = seconds(1000);
  for (int died = 0; died < 3; ++died) {
    reactor().tasks().cancel();  // its process is gone
    workers_.clear();
    if (died == 0) {
      EXPECT_EQ(claim_and_die(1, seconds(4)), 1u);
    } else {
      EXPECT_EQ(claim_and_die(1, seconds(4)), 1u);
    }
    pass(seconds(5));
    const auto expired = run(queue().table().expire("notes", 3));
    ASSERT_TRUE(expired);
    ASSERT_EQ(expired->size(), 1u);
    EXPECT_EQ((*expired)[0].state, died == 2 ? JobState::dead : JobState::waiting);
  }
  EXPECT_THAT(jobs(JobState::dead)[0].failure, HasSubstr("the lease ended"));
}

TEST_F(QueueFailuresTest, a_lease_is_renewed_for_as_long_as_its_handler_runs) {
  takes = seconds(60);
  work({.lease = seconds(6)});
  work({.lease = seconds(6)});  // would take it over
  put(1);
  pass(seconds(62), milliseconds(100));
  EXPECT_THAT(taken, ElementsAre(1));
  EXPECT_THAT(done, ElementsAre(1));
}

TEST_F(QueueFailuresTest, a_handler_whose_lease_is_lost_is_told_and_then_cancelled) {
  takes = seconds(60);
  Delivery* seen = nullptr;
  std::stop_token token;
  on_begin = [&](const Note&, Delivery& delivery) {
    seen = &delivery;
    token = delivery.stop_token();
  };
  work({.lease = seconds(6), .stop_grace = seconds(3)});
  put(1);
  pass(seconds(1));
  ASSERT_NE(seen, nullptr);
  // Another worker has the job, as after a pause of the whole machine.
  auto steal = [&]() -> Task<bool> {
    auto changed =
        co_await db().execute("UPDATE katana_queue_jobs SET fence = fence + 1, worker = 'thief'");
    co_return changed && *changed == 1;
  };
  ASSERT_TRUE(run(steal()));
  pass(seconds(3));
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(seen->stopped(), Stopped::lease_lost);
  pass(seconds(3));
  EXPECT_EQ(ended(Ended::lost), 1u);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(jobs(JobState::running).size(), 1u);  // the thief's
}

TEST_F(QueueFailuresTest, who_ends_after_its_lease_was_lost_changes_nothing) {
  takes = seconds(1);
  work({.lease = seconds(30)});
  put(1);
  pass(milliseconds(500));
  auto steal = [&]() -> Task<bool> {
    auto changed =
        co_await db().execute("UPDATE katana_queue_jobs SET fence = fence + 1, worker = 'thief'");
    co_return changed && *changed == 1;
  };
  ASSERT_TRUE(run(steal()));
  pass(seconds(1));
  EXPECT_EQ(ended(Ended::lost), 1u);
  EXPECT_EQ(jobs(JobState::running).size(), 1u);
}

TEST_F(QueueFailuresTest, an_outage_of_the_database_is_survived) {
  work({.poll = seconds(1)});
  put(1);
  pass(milliseconds(500));
  faults().unavailable();
  pass(seconds(20));
  faults().heal();
  put(2);
  pass(seconds(3));
  EXPECT_THAT(done, ElementsAre(1, 2));
  EXPECT_THAT(failures.lines, Contains(HasSubstr("jobs could not be claimed")));
  EXPECT_GT(QueueInstruments::make(metrics_, "notes")->failures.value(), 5u);
}

TEST_F(QueueFailuresTest, an_end_that_could_not_be_noted_in_an_outage_is_noted_after_it) {
  takes = seconds(2);
  work({.lease = seconds(30)});
  put(1);
  pass(seconds(1));
  faults().unavailable();
  pass(seconds(5));
  EXPECT_THAT(done, ElementsAre(1));
  faults().heal();
  pass(seconds(2));
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_TRUE(jobs(JobState::running).empty());
  EXPECT_EQ(taken.size(), 1u);
}

TEST_F(QueueFailuresTest, an_outage_longer_than_the_lease_stops_the_handler_before_its_end) {
  takes = seconds(100);
  double stopped_at = 0;
  Delivery* seen = nullptr;
  on_begin = [&](const Note&, Delivery& delivery) { seen = &delivery; };
  work({.lease = seconds(9), .stop_grace = seconds(1)});
  put(1);
  pass(milliseconds(500));
  ASSERT_NE(seen, nullptr);
  const double began = times[0];
  faults().unavailable();
  while (stopped_at == 0 && now_s() < began + 20) {
    pass(milliseconds(100));
    if (seen->is_stopped()) stopped_at = now_s();
  }
  EXPECT_GT(stopped_at, began + 3);
  EXPECT_LT(stopped_at + 1, began + 9.01);  // and cancelled before the lease's end
  pass(seconds(2));
  EXPECT_EQ(ended(Ended::lost), 1u);
}

TEST_F(QueueFailuresTest, a_reactor_that_drains_finishes_what_runs_and_claims_no_more) {
  takes = seconds(2);
  work({.concurrency = 2});
  for (int number = 1; number <= 5; ++number) put(number);
  pass(milliseconds(500));
  reactor().request_drain(seconds(10));
  pass(seconds(3));
  EXPECT_THAT(done, ElementsAre(1, 2));
  EXPECT_EQ(jobs(JobState::waiting).size(), 3u);
  EXPECT_EQ(workers_[0]->running(), 0u);
  EXPECT_EQ(reactor().tasks().size(), 0u);
}

TEST_F(QueueFailuresTest, what_does_not_end_in_time_is_given_back_without_a_lost_attempt) {
  takes = seconds(100);
  work({.concurrency = 2, .drain_grace = seconds(2)});
  for (int number = 1; number <= 2; ++number) put(number);
  pass(milliseconds(500));
  reactor().request_drain(seconds(10));
  pass(milliseconds(4500));
  EXPECT_TRUE(done.empty());
  const std::vector<JobInfo> waiting = jobs(JobState::waiting);
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting[0].attempts, 0);
  EXPECT_EQ(ended(Ended::given_back), 2u);
  EXPECT_EQ(reactor().tasks().size(), 0u);
}

TEST_F(QueueFailuresTest, a_job_completed_in_the_handlers_transaction_is_done_with_it_or_not) {
  struct Effects {
    Task<Result<void>> apply(database::Database& db, Delivery& delivery, bool commits) {
      auto transaction = co_await db.begin();
      if (!transaction) co_return std::unexpected(transaction.error());
      auto added = co_await transaction->execute("UPDATE sums SET sum = sum + 1");
      if (!added) co_return std::unexpected(added.error());
      const Result<void> completed = co_await delivery.complete_in(*transaction);
      if (!completed) co_return completed;
      if (!commits) co_return fail(Code::unavailable, "not this time");
      auto committed = co_await transaction->commit();
      if (!committed) co_return std::unexpected(committed.error());
      co_return {};
    }
  };
  auto prepare = [&]() -> Task<bool> {
    auto made = co_await db().execute("CREATE TABLE sums (sum BIGINT NOT NULL)");
    auto zero = co_await db().execute("INSERT INTO sums VALUES (0)");
    co_return made&& zero;
  };
  ASSERT_TRUE(run(prepare()));
  Effects effects;
  workers_.push_back(std::make_unique<Worker>(queue()));
  workers_[0]->handle<Note>("notes",
                            [&](Note, Delivery& delivery) {
                              return effects.apply(db(), delivery, delivery.attempt() == 3);
                            },
                            {.backoff_min = milliseconds(100)});
  begin(*workers_[0]);
  put(1);
  pass(seconds(5));
  auto sum = [&]() -> Task<std::int64_t> {
    auto found = co_await db().query_one<std::int64_t>("SELECT sum FROM sums");
    co_return found ? found->value_or(-1) : -1;
  };
  EXPECT_EQ(run(sum()), 1);
  EXPECT_EQ(ended(Ended::retried), 2u);
  EXPECT_EQ(ended(Ended::done), 1u);
  EXPECT_TRUE(jobs(JobState::running).empty());
  EXPECT_TRUE(jobs(JobState::waiting).empty());
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
