// Job: a coroutine that runs on a reactor by a schedule.
//
// Owns       its function, and the captures of that.
// Thread     made on any; run on its reactor.
// Allocates  a coroutine frame for each run.
// Fails      check() with an Error that names the job and the wrong option.
// Invariant  one run of a job at a time: a tick that comes while it runs is skipped and counted.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/jobs/schedule.hpp"

namespace katana::jobs {

// Limit of a job's name, which is a label of metrics and a key of the configuration.
inline constexpr std::size_t job_name_bytes_max = 64;

// One run of a job.
struct JobRun {
  Timestamp tick = {};  // of the schedule
  // A fence: greater than that of every earlier run, also on other instances with the same lock.
  // The store that the job writes to can keep the largest fence and refuse a smaller one. A run
  // with a smaller fence was interrupted, and another instance has taken over.
  std::uint64_t fence = 0;
  unsigned attempt = 1;  // above 1: a retry of this tick
};

// The function of a job. An Error, or an exception, is a failed run.
using JobFunction = std::move_only_function<Task<Result<void>>(JobRun)>;

namespace detail {
inline Task<Result<void>> as_result(Task<void> task) {
  co_await std::move(task);
  co_return {};
}
}  // namespace detail

// Makes a JobFunction of a callable that returns Task<void> or Task<Result<void>>, with or without
// a JobRun. `f` stays where it is during a run.
template <class F>
JobFunction job_function(F f) {
  if constexpr (!std::invocable<F&, JobRun>) {
    return job_function([f = std::move(f)](JobRun) mutable { return f(); });
  } else {
    using Given = std::invoke_result_t<F&, JobRun>;
    static_assert(std::same_as<Given, Task<void>> || std::same_as<Given, Task<Result<void>>>,
                  "a job is a function that returns Task<void> or Task<Result<void>>");
    if constexpr (std::same_as<Given, Task<void>>) {
      return [f = std::move(f)](JobRun run) mutable { return detail::as_result(f(run)); };
    } else {
      return f;
    }
  }
}

// Calls the function, and holds it until its task has ended.
inline Task<Result<void>> run_and_hold(JobFunction f) {
  Task<Result<void>> task = f({});
  co_return co_await std::move(task);
}

// Further attempts of a tick whose run has failed.
struct JobRetry {
  // The largest retries_max.
  static constexpr unsigned attempts_bound = 1000;

  unsigned retries_max = 0;  // for each tick. Zero: the next tick is the next attempt
  // The delay before the first retry; each further one is twice as long, up to delay_max. Delays
  // vary by a fifth, by chance.
  Duration delay = seconds(60);
  Duration delay_max = seconds(3600);

  // An Error that names the value that is out of range.
  Result<void> check() const;
};

// The options of a job, without its schedule.
struct JobOptions {
  // A longer run is cancelled, and has failed.
  Duration timeout = seconds(3600);
  // Each run begins later by a random time up to this.
  Duration jitter = {};
  // Also runs once when the program starts.
  bool run_at_start = false;
  // After a failure ticks are skipped for this time. After each further failure in a row they are
  // skipped for twice as long, up to backoff_max. Zero: none is skipped.
  Duration backoff = {};
  Duration backoff_max = seconds(3600);
  // A failed run is retried before the next tick; a retry that would come later is left out.
  JobRetry retry = {};
  // True: one of the instances with the same lock (lock.hpp) runs each tick.
  bool one_instance = false;
  // The health check fails when the last run failed, and when no run succeeded for this many
  // intervals. Zero: it fails only when the last run failed.
  unsigned intervals_without_success_max = 3;
  // True: /ready answers 503 while the job's check fails. False: the check is only shown as
  // a warning, because a server whose report is late may still serve.
  bool needed_for_ready = false;
};

struct Job {
  std::string name;         // letters, digits, '-', '_', '.'
  Schedule schedule;        // when it is due
  JobFunction run;          // the coroutine; called for each tick that is not skipped
  JobOptions options = {};  // timeout, retries, lock, …

  // An Error: the name is malformed, there is no function, or an option is out of its range.
  Result<void> check() const;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
