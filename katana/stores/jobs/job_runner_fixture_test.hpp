// JobRunnerTest: a job on a reactor in virtual time. The reactor's second 1000 is 00:16:40 of 1970.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/jobs/job_runner.hpp"

namespace katana::jobs {

struct ToldFailures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override {
    lines.push_back(describe(failure));
    severities.push_back(failure.severity);
  }
  std::vector<std::string> lines;
  std::vector<Severity> severities;
};

class JobRunnerTest : public net::ReactorTest {
 protected:
  ~JobRunnerTest() override {
    reactor().tasks().cancel();
    runner_.reset();
  }

  // Runs a job that notes the begin of each run, and then runs `work`.
  void run(Schedule schedule, JobOptions options = {}) {
    job_ = std::make_unique<Job>(Job{.name = "purge",
                                     .schedule = std::move(schedule),
                                     .run = job_function([this] { return note_run(); }),
                                     .options = options});
    ASSERT_TRUE(job_->check()) << job_->check().error().describe();
    runner_ = std::make_unique<JobRunner>(
        reactor(), *job_, status,
        JobRunnerOptions{.lock = &lock, .failures = &failures, .seed = 7});
    runner_->start();
    turn();
  }
  // Time passes in steps of a quarter of a second.
  void pass(Duration time) {
    for (std::int64_t left = time.ns; left > 0; left -= step.ns) turn(step);
  }
  JobStatistics statistics() const { return status.statistics(); }
  std::uint64_t skipped(Skipped why) const {
    return statistics().skipped[static_cast<std::size_t>(why)];
  }
  double now_s() { return static_cast<double>(reactor().now().ns) / 1e9; }
  std::string health() {
    const auto result = statistics().health(reactor().now());
    return result ? std::string() : std::string(result.error().message());
  }

  static constexpr Duration step = milliseconds(250);
  Duration takes;            // of a run
  std::string throws;        // what it throws then
  std::string fails;         // or the error that it returns
  std::vector<double> runs;  // when they began, in seconds
  int finished = 0;
  ToldFailures failures;
  LocalJobLock lock;
  JobStatus status;
  std::unique_ptr<Job> job_;
  std::unique_ptr<JobRunner> runner_;

 private:
  Task<Result<void>> note_run() {
    runs.push_back(now_s());
    co_await net::sleep_for(takes);
    if (!throws.empty()) throw std::runtime_error(throws);
    if (!fails.empty()) co_return fail(Code::unavailable, fails);
    ++finished;
    co_return {};
  }
};

using Times = std::vector<double>;

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
