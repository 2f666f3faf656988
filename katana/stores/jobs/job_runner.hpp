// JobRunner: runs one job on a reactor, as its schedule says.
//
// Owns       its timer. A run is a task of the reactor (Reactor::tasks()): a reactor that drains
//            waits for it, and begins none.
// Borrows    the reactor, the job, its status, the lock and the observer, which outlive it.
// Thread     its reactor's; made, started and destroyed also by another while that does not run.
// Allocates  frames of coroutines, for each run.
// Fails      never: a failed run is told to the observer with its cause, and counted. A retry
//            (JobOptions::retry) or the next tick follows. A run that the end of the program
//            cancels counts as failed.
// Invariant  one run at a time, retries included. A tick that comes meanwhile is counted as skipped
//            and not made up for. When the reactor was too late for several ticks, it runs the last
//            of them, and counts the others as skipped.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/jobs/job.hpp"
#include "katana/stores/jobs/job_status.hpp"
#include "katana/stores/jobs/lock.hpp"
#include "katana/stores/jobs/wall_time.hpp"

namespace katana::trace {
class SpanRecord;
class Tracer;
}  // namespace katana::trace

namespace katana::jobs {

// The objects of the program that a runner uses.
struct JobRunnerOptions {
  JobLock* lock = nullptr;              // for JobOptions::one_instance, which needs one
  FailureObserver* failures = nullptr;  // null: the reactor's
  std::uint64_t seed = 1;               // of the jitter, and of retries' delays
  trace::Tracer* tracer = nullptr;      // null: runs have no spans
};

class JobRunner final : private net::TimerEntry {
 public:
  // REQUIRES that the job's check() is passed.
  JobRunner(net::Reactor& reactor, Job& job, JobStatus& status, JobRunnerOptions options = {});
  // REQUIRES that no run is under way.
  ~JobRunner();

  // Runs the job from the reactor's next turn on.
  void start() noexcept;
  // The time of the next tick. Nothing before the first turn, and during a run of a job that is due
  // after its last run.
  std::optional<Timestamp> due() const noexcept { return due_; }

 private:
  enum class Outcome : std::uint8_t { succeeded, other_instance, ending };
  class Run;
  // The tick of a run, and its claim. The claim of a retry is a later tick: its fence is greater.
  struct Attempt {
    Timestamp tick;
    Timestamp claimed;
    unsigned number = 1;
  };

  Timestamp wall() noexcept { return wall_.at(reactor_.now(), reactor_.wall_clock_s()); }
  void on_time() noexcept;
  void begin(Timestamp tick) noexcept;
  void begin_retry() noexcept;
  void begin_run(const Attempt& attempt) noexcept;
  void arm() noexcept;
  // The time at which the job has gone too long without success, if it has none until then.
  Instant overdue_after(Timestamp wall) const noexcept;
  Task<void> run(Attempt attempt);
  Task<Result<Outcome>> try_once(Attempt attempt);
  Task<Result<void>> run_once(JobRun run);
  void add_attributes(trace::SpanRecord& record, const JobRun& run) const noexcept;
  // Runs the job while it renews the claim, which was requested at `asked`.
  Task<Result<void>> run_leased(JobRun run, JobClaim claim, Instant asked);
  // Renews the claim; ends with an Error when it is lost.
  Task<Result<void>> keep(JobClaim claim, Instant asked);
  Task<void> release(JobClaim claim, bool failed);
  void on_end(Instant began, const Result<Outcome>& outcome,
              const std::exception_ptr& thrown) noexcept;
  void tell(const Failure& failure) const noexcept;
  void on_failure(const Failure& failure, Timestamp now) noexcept;
  bool may_retry() const noexcept;
  // Nothing: the next tick is the next attempt.
  std::optional<Duration> plan_retry(Timestamp now) noexcept;
  void back_off() noexcept;

  net::Reactor& reactor_;
  Job& job_;
  JobStatus& status_;
  const JobRunnerOptions options_;
  const std::string place_;  // "job purge"
  const Activity activity_{.site = &place_};
  Random random_;
  WallTime wall_;
  bool started_ = false;
  bool running_ = false;
  std::optional<Timestamp> due_;
  std::uint32_t failures_in_a_row_ = 0;
  Instant resume_at_ = {};  // of the back-off
  Attempt last_ = {};       // the run that was begun last
  Instant retry_at_ = never;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
