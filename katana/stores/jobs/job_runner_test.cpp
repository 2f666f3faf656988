#include "katana/stores/jobs/job_runner.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/metrics/exposition.hpp"
#include "katana/stores/jobs/job_runner_fixture_test.hpp"

namespace katana::jobs {
namespace {

TEST(JobName, has_letters_digits_and_three_signs_and_not_more_than_it_may) {
  const auto is_taken = [](std::string name) {
    const Job job{.name = std::move(name),
                  .schedule = every(seconds(1)),
                  .run = job_function([]() -> Task<void> { co_return; }),
                  .options = {}};
    return job.check().has_value();
  };
  const std::string taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(is_taken(std::string("a") + c), taken.find(c) != std::string::npos) << byte;
  }
  EXPECT_FALSE(is_taken(""));
  EXPECT_TRUE(is_taken(std::string(job_name_bytes_max, 'n')));
  EXPECT_FALSE(is_taken(std::string(job_name_bytes_max + 1, 'n')));
}

TEST_F(JobRunnerTest, is_running_from_the_begin_of_a_run_to_its_end) {
  takes = seconds(3);
  run(every(seconds(10)));
  EXPECT_FALSE(statistics().running);
  pass(seconds(11));
  EXPECT_TRUE(statistics().running);
  pass(seconds(5));
  EXPECT_FALSE(statistics().running);
}

TEST_F(JobRunnerTest, every_runs_at_its_ticks_whatever_a_run_takes) {
  takes = seconds(3);
  run(every(seconds(10)));
  pass(seconds(25));
  EXPECT_EQ(runs, (Times{1010, 1020}));
  EXPECT_EQ(statistics().runs, 2u);
  EXPECT_EQ(statistics().last_duration, seconds(3));
  EXPECT_EQ(statistics().last_success, Timestamp(std::chrono::seconds(1023)));
  EXPECT_EQ(health(), "");
}

TEST_F(JobRunnerTest, after_waits_for_its_pause_from_the_end_of_each_run) {
  takes = seconds(3);
  run(after(seconds(10)));
  pass(seconds(30));
  EXPECT_EQ(runs, (Times{1010, 1023}));
}

TEST_F(JobRunnerTest, cron_runs_at_the_times_of_the_calendar) {
  run(cron("18-20/2 0 * * *"));
  pass(seconds(300));
  EXPECT_EQ(runs, (Times{18 * 60, 20 * 60}));
}

TEST_F(JobRunnerTest, a_tick_that_comes_while_it_runs_is_counted_and_not_queued) {
  takes = seconds(25);
  run(every(seconds(10)));
  pass(seconds(50));
  EXPECT_EQ(runs, (Times{1010, 1040}));
  EXPECT_EQ(skipped(Skipped::running), 3u);  // 1020, 1030, 1050
}

TEST_F(JobRunnerTest, a_reactor_that_comes_late_runs_the_last_tick_and_counts_the_others) {
  run(every(seconds(10)));
  turn(seconds(38));
  EXPECT_EQ(runs, (Times{1038}));
  EXPECT_EQ(skipped(Skipped::late), 2u);  // 1010, 1020
  pass(seconds(2));
  EXPECT_EQ(runs, (Times{1038, 1040}));
}

TEST_F(JobRunnerTest, a_run_that_lasts_too_long_is_cancelled_and_has_failed) {
  takes = seconds(60);
  run(every(seconds(10)), {.timeout = seconds(2)});
  pass(seconds(15));
  EXPECT_EQ(statistics().failures, 1u);
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"job purge: it failed: not done within 2000 ms"}));
  EXPECT_EQ(health(), "the last run failed (1 in a row): not done within 2000 ms");
}

TEST_F(JobRunnerTest, a_failure_is_told_with_its_cause_and_the_next_tick_runs) {
  throws = "no disk";
  run(every(seconds(10)));
  pass(seconds(12));
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"job purge: it threw: std::runtime_error: no disk"}));
  EXPECT_EQ(health(), "the last run failed (1 in a row): no disk");
  throws.clear();
  fails = "no mail server";
  pass(seconds(10));
  EXPECT_EQ(failures.lines.back(), "job purge: it failed: no mail server");
  EXPECT_EQ(statistics().failures_in_a_row, 2u);
  fails.clear();
  pass(seconds(10));
  EXPECT_EQ(health(), "");
  EXPECT_EQ(statistics().failures_in_a_row, 0u);
  EXPECT_EQ(statistics().failures, 2u);
  EXPECT_EQ(statistics().runs, 3u);
}

TEST_F(JobRunnerTest, after_failures_ticks_are_skipped_for_longer_and_longer) {
  throws = "no disk";
  run(every(seconds(10)), {.backoff = seconds(15), .backoff_max = seconds(35)});
  pass(seconds(150));
  EXPECT_EQ(runs, (Times{1010, 1030, 1060, 1100, 1140}));  // 15, 30, 35, 35 s
  throws.clear();
  runs.clear();
  pass(seconds(50));
  EXPECT_EQ(runs, (Times{1180, 1190, 1200}));
  EXPECT_EQ(skipped(Skipped::backing_off), 12u);
}

TEST_F(JobRunnerTest, a_failed_run_is_tried_again_after_longer_and_longer_delays) {
  fails = "no mail server";
  run(every(seconds(1000)),
      {.run_at_start = true,
       .retry = {.retries_max = 3, .delay = seconds(10), .delay_max = seconds(30)}});
  pass(seconds(900));
  ASSERT_EQ(runs.size(), 4u);
  const double delays[] = {10, 20, 30};
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_GE(runs[index + 1] - runs[index], delays[index] * 0.8);
    EXPECT_LE(runs[index + 1] - runs[index], delays[index] * 1.2 + 0.5);
  }
  EXPECT_EQ(statistics().retries, 3u);
  EXPECT_EQ(statistics().failures, 4u);
  ASSERT_EQ(failures.lines.size(), 4u);
  EXPECT_TRUE(failures.lines[0].starts_with("job purge: it failed, retry 1 of 3 follows in "))
      << failures.lines[0];
  EXPECT_EQ(failures.lines[3], "job purge: it failed, as did 3 attempts before: no mail server");
  pass(seconds(150));  // the next tick has its retries again
  EXPECT_GE(runs.size(), 6u);
}

TEST_F(JobRunnerTest, a_retry_that_succeeds_ends_the_attempts_of_its_tick) {
  fails = "no mail server";
  run(cron("0 3 * * *"), {.run_at_start = true, .retry = {.retries_max = 5, .delay = seconds(10)}});
  pass(seconds(5));
  EXPECT_EQ(health(), "the last run failed (1 in a row): no mail server");
  fails.clear();
  pass(seconds(600));
  EXPECT_EQ(runs.size(), 2u);
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(health(), "");
}

TEST_F(JobRunnerTest, a_retry_that_would_come_after_the_next_tick_is_left_to_it) {
  throws = "no disk";
  run(every(seconds(10)), {.retry = {.retries_max = 5, .delay = seconds(5)}});
  pass(seconds(32));
  // A delay of 5 s fits into 10 s, a further one of 10 s does not.
  EXPECT_EQ(statistics().retries, 2u);
  EXPECT_EQ(skipped(Skipped::running), 0u);
  run(every(seconds(10)), {.retry = {.retries_max = 5, .delay = seconds(60)}});
  const auto before = statistics().retries;
  pass(seconds(100));
  EXPECT_EQ(statistics().retries, before);
}

TEST_F(JobRunnerTest, a_pause_begins_at_the_end_of_the_last_retry) {
  fails = "x";
  takes = seconds(1);
  run(after(seconds(100)),
      {.run_at_start = true, .retry = {.retries_max = 1, .delay = seconds(5)}});
  pass(seconds(150));
  ASSERT_GE(runs.size(), 3u);
  EXPECT_LE(runs[1] - runs[0], 7.5);
  EXPECT_GE(runs[2] - runs[1], 101);
  EXPECT_LE(runs[2] - runs[1], 101.5);
}

TEST_F(JobRunnerTest, no_retry_begins_once_the_reactor_drains) {
  fails = "x";
  run(every(seconds(1000)),
      {.run_at_start = true, .retry = {.retries_max = 3, .delay = seconds(5)}});
  pass(seconds(1));
  world_.accepting = false;
  reactor().request_drain(seconds(60));
  pass(seconds(30));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(runs.size(), 1u);
}

TEST_F(JobRunnerTest, a_retry_has_the_tick_of_its_job_and_a_greater_fence) {
  std::vector<JobRun> seen;
  job_ = std::make_unique<Job>(
      Job{.name = "purge",
          .schedule = every(seconds(100)),
          .run = job_function([&](JobRun run) -> Task<Result<void>> {
            seen.push_back(run);
            co_return fail(Code::unavailable, "x");
          }),
          .options = {.retry = {.retries_max = 2, .delay = seconds(5)}, .one_instance = true}});
  runner_ = std::make_unique<JobRunner>(reactor(), *job_, status, JobRunnerOptions{.lock = &lock});
  runner_->start();
  pass(seconds(190));
  ASSERT_EQ(seen.size(), 3u);
  for (unsigned index = 0; index < 3; ++index) {
    EXPECT_EQ(seen[index].attempt, index + 1);
    EXPECT_EQ(seen[index].tick, seen[0].tick);
    if (index > 0) EXPECT_GT(seen[index].fence, seen[index - 1].fence);
  }
  seen.clear();
  pass(seconds(20));  // the next tick is claimed after the retries
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen[0].attempt, 1u);
}

TEST_F(JobRunnerTest, a_lock_that_could_not_be_asked_is_asked_again_by_a_retry) {
  struct Flaky final : JobLock {
    Task<Result<bool>> try_acquire(JobClaim) override {
      if (++asked < 3) co_return fail(Code::unavailable, "no database");
      co_return true;
    }
    Task<Result<void>> release(JobClaim, Timestamp) override { co_return {}; }
    int asked = 0;
  } flaky;
  job_ = std::make_unique<Job>(Job{.name = "purge",
                                   .schedule = every(seconds(1000)),
                                   .run = job_function([this]() -> Task<void> {
                                     ++finished;
                                     co_return;
                                   }),
                                   .options = {.run_at_start = true,
                                               .retry = {.retries_max = 3, .delay = seconds(5)},
                                               .one_instance = true}});
  runner_ = std::make_unique<JobRunner>(reactor(), *job_, status, JobRunnerOptions{.lock = &flaky});
  runner_->start();
  pass(seconds(60));
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(statistics().retries, 2u);
}

TEST_F(JobRunnerTest, a_retry_is_dropped_when_another_instance_has_gone_on) {
  fails = "x";
  run(every(seconds(1000)), {.run_at_start = true,
                             .retry = {.retries_max = 3, .delay = seconds(10)},
                             .one_instance = true});
  pass(seconds(2));
  auto claim = lock.try_acquire({.job = "purge",
                                 .tick = Timestamp(std::chrono::seconds(1003)),
                                 .now = Timestamp(std::chrono::seconds(1003)),
                                 .until = Timestamp(std::chrono::seconds(1900))});
  claim.start();
  ASSERT_TRUE(claim.result().value());
  pass(seconds(100));
  EXPECT_EQ(runs.size(), 1u);
  EXPECT_EQ(skipped(Skipped::other_instance), 1u);
}

TEST_F(JobRunnerTest, at_the_start_it_runs_at_once_if_that_is_wanted) {
  run(every(seconds(10)), {.run_at_start = true});
  pass(seconds(12));
  EXPECT_EQ(runs, (Times{1000, 1010}));
  EXPECT_EQ(finished, 2);
}

TEST_F(JobRunnerTest, jitter_puts_runs_off_by_less_than_it_says) {
  run(every(seconds(10)), {.jitter = seconds(5)});
  pass(seconds(1006));
  ASSERT_EQ(runs.size(), 100u);
  bool some_were_late = false;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const double late = runs[index] - (1010.0 + 10.0 * static_cast<double>(index));
    EXPECT_GE(late, 0);
    EXPECT_LT(late, 5.25);
    some_were_late = some_were_late || late > 2.5;
  }
  EXPECT_TRUE(some_were_late);
}

TEST_F(JobRunnerTest, without_success_for_too_many_intervals_it_is_overdue) {
  fails = "x";
  run(every(seconds(10)), {.intervals_without_success_max = 2});
  EXPECT_EQ(health(), "");
  runner_.reset();  // nothing runs any more
  pass(seconds(21));
  EXPECT_EQ(health(), "overdue: no run has succeeded yet");
}

TEST_F(JobRunnerTest, a_reactor_that_drains_waits_for_a_run_and_begins_none) {
  takes = seconds(5);
  run(every(seconds(10)));
  pass(seconds(10));
  world_.accepting = false;
  reactor().request_drain(seconds(60));
  pass(seconds(4));
  EXPECT_FALSE(reactor().stopped());
  pass(seconds(1));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(finished, 1);
  pass(seconds(20));
  EXPECT_EQ(runs, (Times{1010}));
}

TEST_F(JobRunnerTest, a_run_that_outlasts_the_drain_is_cancelled_and_has_failed) {
  takes = seconds(5);
  run(every(seconds(10)));
  pass(seconds(10));
  world_.accepting = false;
  reactor().request_drain(seconds(2));
  pass(seconds(3));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(finished, 0);
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"job purge: it failed: cancelled: the program ends"}));
  EXPECT_FALSE(statistics().running);
}

TEST_F(JobRunnerTest, who_waits_for_its_jitter_does_not_hold_up_the_end) {
  run(every(seconds(1000)), {.jitter = seconds(999)});
  pass(seconds(1000));
  EXPECT_TRUE(statistics().running);
  world_.accepting = false;
  reactor().request_drain(seconds(60));
  turn();
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(runs, Times{});
  EXPECT_EQ(statistics().failures, 0u);
}

TEST_F(JobRunnerTest, a_tick_that_another_instance_has_is_skipped_and_is_no_failure) {
  Job other{.name = "purge",
            .schedule = every(seconds(10)),
            .run = job_function([this]() -> Task<void> {
              runs.push_back(-now_s());
              co_return;
            }),
            .options = {.one_instance = true}};
  JobStatus of_other;
  JobRunner second(reactor(), other, of_other, {.lock = &lock});
  second.start();
  run(every(seconds(10)), {.one_instance = true});
  pass(seconds(100));
  EXPECT_EQ(runs.size(), 10u);
  EXPECT_EQ(statistics().runs + of_other.statistics().runs, 10u);
  EXPECT_EQ(skipped(Skipped::other_instance) +
                of_other.statistics().skipped[static_cast<std::size_t>(Skipped::other_instance)],
            10u);
  EXPECT_EQ(health(), "");
  EXPECT_TRUE(of_other.statistics().health(reactor().now()));
}

TEST_F(JobRunnerTest, an_instance_that_died_in_its_run_is_waited_for_until_its_timeout) {
  auto claim = lock.try_acquire({.job = "purge",
                                 .tick = Timestamp(std::chrono::seconds(1000)),
                                 .now = Timestamp(std::chrono::seconds(1000)),
                                 .until = Timestamp(std::chrono::seconds(1025))});
  claim.start();
  EXPECT_TRUE(claim.result().value());
  run(every(seconds(10)), {.one_instance = true});
  pass(seconds(40));
  EXPECT_EQ(runs, (Times{1030, 1040}));
  EXPECT_EQ(skipped(Skipped::other_instance), 2u);
}

TEST_F(JobRunnerTest, a_lock_that_cannot_be_asked_is_a_failure) {
  struct Broken final : JobLock {
    Task<Result<bool>> try_acquire(JobClaim) override {
      co_return fail(Code::unavailable, "no database");
    }
    Task<Result<void>> release(JobClaim, Timestamp) override { co_return {}; }
  } broken;
  Job job{.name = "purge",
          .schedule = every(seconds(10)),
          .run = job_function([]() -> Task<void> { co_return; }),
          .options = {.one_instance = true}};
  JobRunner runner(reactor(), job, status, {.lock = &broken, .failures = &failures});
  runner.start();
  pass(seconds(11));
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"job purge: it failed: the lock of the job: no database"}));
}

// Leases of 30 s, which a test takes away or does not renew.
struct LeasedLock final : JobLock {
  explicit LeasedLock(net::Reactor& of) : reactor(of) {}
  Task<Result<bool>> try_acquire(JobClaim) override { co_return true; }
  Task<Result<void>> release(JobClaim, Timestamp) override {
    ++released;
    co_return {};
  }
  Duration lease() const noexcept override { return seconds(30); }
  Task<Result<bool>> renew(JobClaim) override {
    renewed.push_back(static_cast<double>(reactor.now().ns) / 1e9);
    if (fails) co_return fail(Code::unavailable, "no server");
    co_return !is_lost;
  }

  net::Reactor& reactor;
  std::vector<double> renewed;  // when, in seconds
  bool is_lost = false;
  bool fails = false;
  int released = 0;
};

class LeasedJobTest : public JobRunnerTest {
 protected:
  // A run that lasts for 100 s, unless it is cancelled.
  void run_long() {
    job_ = std::make_unique<Job>(Job{.name = "purge",
                                     .schedule = every(seconds(1000)),
                                     .run = job_function([this](JobRun run) -> Task<void> {
                                       fences.push_back(run.fence);
                                       co_await net::sleep_for(seconds(100));
                                       runs.push_back(now_s());
                                     }),
                                     .options = {.run_at_start = true, .one_instance = true}});
    runner_ = std::make_unique<JobRunner>(reactor(), *job_, status,
                                          JobRunnerOptions{.lock = &leased, .failures = &failures});
    runner_->start();
    turn();
  }

  LeasedLock leased{reactor()};
  std::vector<std::uint64_t> fences;
};

TEST_F(LeasedJobTest, a_lease_is_renewed_after_a_third_of_it_while_the_job_runs) {
  run_long();
  pass(seconds(200));
  EXPECT_EQ(runs, (Times{1100}));
  EXPECT_EQ(leased.renewed, (Times{1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080, 1090, 1100}));
  EXPECT_EQ(leased.released, 1);
  EXPECT_EQ(statistics().failures, 0u);
  ASSERT_EQ(fences.size(), 1u);
  EXPECT_EQ(fences[0], 1'000'000'000u) << "the tick";
}

TEST_F(LeasedJobTest, a_job_whose_lease_somebody_else_has_is_cancelled) {
  run_long();
  pass(seconds(15));
  leased.is_lost = true;
  pass(seconds(10));
  EXPECT_EQ(runs, Times{});
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"job purge: it failed: cancelled: the lease of its lock has "
                                      "ended, and another instance may run it"}));
  EXPECT_FALSE(statistics().running);
}

TEST_F(LeasedJobTest, a_lease_that_cannot_be_renewed_cancels_the_job_before_it_ends) {
  run_long();
  pass(seconds(15));
  leased.fails = true;
  pass(seconds(24));
  EXPECT_FALSE(statistics().running) << "the lease of second 1010 ends in 1040";
  EXPECT_EQ(runs, Times{});
  ASSERT_EQ(failures.lines.size(), 1u);
  EXPECT_NE(failures.lines[0].find("could not be renewed: no server"), std::string::npos);
  EXPECT_GT(leased.renewed.size(), 10u) << "it is tried again every second";
}

TEST_F(LeasedJobTest, a_run_that_fails_under_its_lease_has_failed_with_its_cause) {
  job_ = std::make_unique<Job>(Job{.name = "purge",
                                   .schedule = every(seconds(1000)),
                                   .run = job_function([]() -> Task<Result<void>> {
                                     co_return fail(Code::unavailable, "no mail server");
                                   }),
                                   .options = {.run_at_start = true, .one_instance = true}});
  runner_ = std::make_unique<JobRunner>(reactor(), *job_, status,
                                        JobRunnerOptions{.lock = &leased, .failures = &failures});
  runner_->start();
  pass(seconds(1));
  EXPECT_EQ(failures.lines, (std::vector<std::string>{"job purge: it failed: no mail server"}));
  EXPECT_EQ(leased.released, 1);
}

TEST_F(LeasedJobTest, a_lock_that_is_there_again_in_time_is_renewed) {
  run_long();
  pass(seconds(15));
  leased.fails = true;
  pass(seconds(15));
  leased.fails = false;
  leased.renewed.clear();
  pass(seconds(200));
  EXPECT_EQ(runs, (Times{1100}));
  EXPECT_EQ(statistics().failures, 0u);
  ASSERT_GT(leased.renewed.size(), 2u);
  EXPECT_EQ(leased.renewed[1] - leased.renewed[0], 10) << "a third of the lease again";
}

TEST_F(JobRunnerTest, its_metrics_have_the_label_of_the_job) {
  metrics::Registry registry;
  const auto instruments = JobInstruments::make(registry, "purge");
  ASSERT_TRUE(instruments) << instruments.error().describe();
  JobStatus measured(*instruments);
  measured.begin();
  EXPECT_EQ(instruments->running.value(), 1);
  measured.end(Timestamp(std::chrono::seconds(1000)), milliseconds(1500), "", never);
  measured.skip(Skipped::late, 3);
  EXPECT_EQ(instruments->running.value(), 0);
  EXPECT_EQ(instruments->runs.value(), 1u);
  EXPECT_EQ(instruments->failures.value(), 0u);
  EXPECT_EQ(instruments->last_duration.value(), 1.5);
  EXPECT_EQ(instruments->last_success.value(), 1000);
  EXPECT_EQ(instruments->skipped[static_cast<std::size_t>(Skipped::late)].value(), 3u);
  EXPECT_TRUE(JobInstruments::make(registry, "another"));
  EXPECT_EQ(measured.statistics().last_duration, milliseconds(1500));
  std::string text(metrics::Exposition::piece_bytes_min, '\0');
  metrics::Exposition exposition(registry, metrics::Format::prometheus);
  text.resize(exposition.fill(text));
  for (const char* const line : {"katana_job_skipped_total{job=\"purge\",reason=\"late\"} 3\n",
                                 "katana_job_last_duration_seconds{job=\"purge\"} 1.5\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  for (const char* const reason : {"running", "backing_off", "other_instance"}) {
    const std::string line =
        std::string("katana_job_skipped_total{job=\"purge\",reason=\"") + reason + "\"} 0\n";
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST_F(JobRunnerTest, a_run_that_was_not_needed_leaves_the_job_idle_and_is_not_counted) {
  metrics::Registry registry;
  const auto instruments = JobInstruments::make(registry, "purge");
  ASSERT_TRUE(instruments);
  JobStatus measured(*instruments);
  measured.begin();
  measured.end_unused();
  EXPECT_FALSE(measured.statistics().running);
  EXPECT_EQ(instruments->running.value(), 0);
  EXPECT_EQ(measured.statistics().runs, 0u);
}

TEST(JobInstruments, a_metric_of_another_kind_with_one_of_their_names_is_an_error) {
  for (const char* const name :
       {"katana_job_runs", "katana_job_failures", "katana_job_retries", "katana_job_skipped",
        "katana_job_running", "katana_job_last_duration_seconds",
        "katana_job_last_success_timestamp_seconds"}) {
    metrics::Registry registry;
    ASSERT_TRUE(registry.histogram(name, "Another metric.", {1})) << name;
    const auto instruments = JobInstruments::make(registry, "purge");
    ASSERT_FALSE(instruments) << name;
    EXPECT_NE(instruments.error().describe().find(name), std::string::npos)
        << instruments.error().describe();
  }
}

TEST(Job, what_is_wrong_with_one_is_said_with_its_name) {
  const auto wrong = [](auto change) {
    Job job{.name = "purge",
            .schedule = every(seconds(10)),
            .run = job_function([]() -> Task<void> { co_return; })};
    change(job);
    const auto checked = job.check();
    return checked ? std::string() : checked.error().describe();
  };
  EXPECT_EQ(wrong([](Job&) {}), "");
  EXPECT_EQ(wrong([](Job& job) { job.name = "a b"; }),
            "job 'a b': a name has 1 to 64 letters, digits and '-', '_', '.'");
  EXPECT_EQ(wrong([](Job& job) { job.run = nullptr; }), "job 'purge': it has no function");
  EXPECT_EQ(wrong([](Job& job) { job.options.timeout = {}; }),
            "job 'purge': its timeout must be above zero");
  EXPECT_EQ(wrong([](Job& job) { job.options.jitter = seconds(10); }),
            "job 'purge': its jitter 10s must be below its interval 10s");
  EXPECT_EQ(wrong([](Job& job) { job.schedule = every({}); }),
            "job 'purge': schedule 'every 0s': expected an interval from 10ms to 366d");
  EXPECT_EQ(wrong([](Job& job) { job.options.jitter = Duration{-1}; }),
            "job 'purge': jitter and backoff must not be negative");
  EXPECT_EQ(wrong([](Job& job) { job.options.backoff = Duration{-1}; }),
            "job 'purge': jitter and backoff must not be negative");
  EXPECT_EQ(wrong([](Job& job) { job.options.retry.retries_max = 1001; }),
            "job 'purge': retry: retries_max must be 1000 at most");
}

TEST(Job, delays_of_retries_are_checked_when_there_are_retries) {
  const auto is_valid = [](const JobRetry& retry) { return retry.check().has_value(); };
  EXPECT_TRUE(is_valid({.retries_max = 1000, .delay = seconds(1), .delay_max = seconds(1)}));
  EXPECT_FALSE(is_valid({.retries_max = 1, .delay = Duration{}, .delay_max = seconds(1)}));
  EXPECT_FALSE(is_valid({.retries_max = 1, .delay = seconds(2), .delay_max = seconds(1)}));
  EXPECT_TRUE(is_valid({.retries_max = 0, .delay = Duration{}, .delay_max = seconds(1)}));
  EXPECT_EQ(JobRetry({.retries_max = 1, .delay = {}}).check().error().message(),
            "delay must be above zero, and delay_max not below it");
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
