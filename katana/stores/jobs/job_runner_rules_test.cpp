// JobRunner: clocks that are set back, late reactors, the lock's release, and health.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/stores/jobs/job_runner_fixture_test.hpp"

namespace katana::jobs {
namespace {

TEST_F(JobRunnerTest, an_interval_lasts_no_longer_after_the_clock_was_set_back) {
  run(every(seconds(10)));
  pass(seconds(12));
  EXPECT_EQ(runs, (Times{1010}));
  world_.wall_ahead_s = -500;
  pass(seconds(70));  // the runner looks at the clock at its next tick or after a minute
  EXPECT_GE(runs.size(), 6u);
}

TEST_F(JobRunnerTest,
       a_time_of_the_calendar_that_has_run_does_not_run_again_with_the_clock_set_back) {
  run(cron("*/5 * * * *"));
  pass(seconds(210));
  EXPECT_EQ(runs, (Times{1200}));
  world_.wall_ahead_s = -100;  // it is 1110 on the clock
  pass(seconds(380));          // and 1490
  EXPECT_EQ(runs, (Times{1200}));
  pass(seconds(11));
  EXPECT_EQ(runs, (Times{1200, 1600}));
}

TEST_F(JobRunnerTest, a_single_tick_that_came_too_late_is_counted) {
  run(every(seconds(10)));
  turn(seconds(25));
  EXPECT_EQ(runs, (Times{1025}));
  EXPECT_EQ(skipped(Skipped::late), 1u);  // 1010
}

TEST_F(JobRunnerTest, a_job_that_pauses_after_a_run_runs_again_when_its_back_off_ends) {
  throws = "no disk";
  run(after(seconds(5)), {.backoff = seconds(12)});
  pass(seconds(6));
  EXPECT_EQ(runs, (Times{1005}));
  throws.clear();
  pass(seconds(30));
  EXPECT_EQ(runs, (Times{1005, 1020, 1025, 1030, 1035}));
  EXPECT_EQ(skipped(Skipped::backing_off), 2u);  // 1010, 1015
}

TEST_F(JobRunnerTest, a_reactor_is_not_woken_before_the_next_tick) {
  run(every(seconds(30)));
  EXPECT_GE(reactor().timers().next(), Instant{seconds(1019).ns});
  EXPECT_LE(reactor().timers().next(), Instant{seconds(1020).ns});
  pass(seconds(21));
  EXPECT_EQ(runs, (Times{1020}));
  EXPECT_GE(reactor().timers().next(), Instant{seconds(1049).ns});
}

TEST_F(JobRunnerTest, a_run_that_ends_while_the_reactor_drains_sets_no_timer) {
  takes = seconds(5);
  run(after(seconds(10)));
  pass(seconds(10));
  EXPECT_EQ(runs, (Times{1010}));
  world_.accepting = false;
  reactor().request_drain(seconds(60));
  pass(seconds(5));
  EXPECT_EQ(finished, 1);
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(reactor().timers().next(), never);
}

TEST_F(JobRunnerTest, a_job_is_overdue_after_its_intervals_and_its_jitter) {
  run(every(seconds(10)), {.jitter = seconds(4), .intervals_without_success_max = 2});
  runner_.reset();  // nothing runs any more
  EXPECT_EQ(statistics().overdue_at, Instant{seconds(1024).ns});
  pass(seconds(23));
  EXPECT_EQ(health(), "");
  pass(seconds(1));
  EXPECT_EQ(health(), "overdue: no run has succeeded yet");
}

TEST_F(JobRunnerTest, a_job_without_a_limit_of_intervals_is_never_overdue) {
  run(every(seconds(10)), {.intervals_without_success_max = 0});
  EXPECT_EQ(statistics().overdue_at, never);
  run(cron("0 0 1 1 *"), {.jitter = never - Instant{}, .intervals_without_success_max = 100'000});
  EXPECT_EQ(statistics().overdue_at, never) << "beyond the end of the clock";
}

TEST_F(JobRunnerTest, an_overdue_job_names_the_end_of_its_last_success) {
  run(every(seconds(10)), {.intervals_without_success_max = 2});
  pass(seconds(11));
  EXPECT_EQ(runs, (Times{1010}));
  runner_.reset();
  pass(seconds(21));
  EXPECT_EQ(health(), "overdue: the last run that succeeded ended 1970-01-01T00:16:50.000000Z");
}

TEST_F(JobRunnerTest, a_failure_that_is_retried_is_a_warning_and_the_last_one_an_error) {
  fails = "x";
  run(every(seconds(1000)),
      {.run_at_start = true, .retry = {.retries_max = 2, .delay = seconds(5)}});
  pass(seconds(60));
  EXPECT_EQ(failures.severities,
            (std::vector<Severity>{Severity::warning, Severity::warning, Severity::error}));
}

// Notes from when on other instances may claim the job.
struct NotingLock final : JobLock {
  Task<Result<bool>> try_acquire(JobClaim) override { co_return true; }
  Task<Result<void>> release(JobClaim claim, Timestamp free_at) override {
    pauses_s.push_back(
        std::chrono::duration<double>(free_at - std::max(claim.now, claim.tick)).count());
    if (is_broken) co_return fail(Code::unavailable, "no database");
    co_return {};
  }
  std::vector<double> pauses_s;  // from the claim
  bool is_broken = false;
};

class ReleasedJobTest : public JobRunnerTest {
 protected:
  // A job of one instance that pauses for 100 s after a run, and has one retry.
  void start(JobFunction function, JobRetry retry) {
    job_ = std::make_unique<Job>(
        Job{.name = "purge",
            .schedule = after(seconds(100)),
            .run = std::move(function),
            .options = {.run_at_start = true, .retry = retry, .one_instance = true}});
    runner_ = std::make_unique<JobRunner>(reactor(), *job_, status,
                                          JobRunnerOptions{.lock = &noting, .failures = &failures});
    runner_->start();
    turn();
  }
  NotingLock noting;
};

TEST_F(ReleasedJobTest, the_pause_after_a_run_holds_for_all_instances) {
  start(job_function([]() -> Task<void> { co_return; }), {});
  ASSERT_EQ(noting.pauses_s.size(), 1u);
  EXPECT_EQ(noting.pauses_s[0], 100);
}

TEST_F(ReleasedJobTest, a_run_that_returned_an_error_leaves_the_lock_free_for_its_retry) {
  start(job_function(
            []() -> Task<Result<void>> { co_return fail(Code::unavailable, "no mail server"); }),
        {.retries_max = 1, .delay = seconds(5)});
  ASSERT_EQ(noting.pauses_s.size(), 1u);
  EXPECT_EQ(noting.pauses_s[0], 0);
  pass(seconds(10));
  ASSERT_EQ(noting.pauses_s.size(), 2u);
  EXPECT_EQ(noting.pauses_s[1], 100) << "no retry follows";
}

TEST_F(ReleasedJobTest, a_run_that_threw_leaves_the_lock_free_for_its_retry) {
  start(job_function([]() -> Task<void> {
          throw std::runtime_error("no disk");
          co_return;
        }),
        {.retries_max = 1, .delay = seconds(5)});
  ASSERT_EQ(noting.pauses_s.size(), 1u);
  EXPECT_EQ(noting.pauses_s[0], 0);
}

TEST_F(ReleasedJobTest, a_lock_that_cannot_be_released_is_a_warning_and_the_run_has_succeeded) {
  noting.is_broken = true;
  start(job_function([]() -> Task<void> { co_return; }), {});
  ASSERT_EQ(failures.lines.size(), 1u);
  EXPECT_EQ(failures.lines[0],
            "job purge: its lock could not be released, and others wait for its timeout: no "
            "database");
  EXPECT_EQ(failures.severities[0], Severity::warning);
  EXPECT_EQ(statistics().failures, 0u);
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
