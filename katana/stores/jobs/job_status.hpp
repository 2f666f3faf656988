// JobStatus: the present state of a job, for metrics, health checks and pages.
//
// Owns       its figures.
// Borrows    nothing; instruments are handles.
// Thread     any.
// Allocates  the text of a failure.
// Fails      never.
// Invariant  statistics() are of one moment.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::jobs {

// The reason why a tick was not run.
enum class Skipped : std::uint8_t {
  running,         // the run before had not ended
  late,            // the reactor came too late for it: the machine slept, or was overloaded
  backing_off,     // after a failure; see JobOptions::backoff
  other_instance,  // another instance has it
};
// Values of Skipped.
inline constexpr std::size_t skipped_count = 4;
// As metrics name it: "running".
Bytes name_of(Skipped why) noexcept;

// The counts and the last results of the runs of one job in this process.
struct JobStatistics {
  bool running = false;                        // a run is under way
  std::uint64_t runs = 0;                      // that have ended
  std::uint64_t failures = 0;                  // runs that have failed
  std::uint64_t failures_in_a_row = 0;         // since the last success
  std::uint64_t retries = 0;                   // that have begun
  std::uint64_t skipped[skipped_count] = {};   // by Skipped
  Duration last_duration = {};                 // of the last run
  std::optional<Timestamp> last_success = {};  // its end; nothing: there was none
  std::string last_failure = {};               // of the last run; empty: it succeeded
  // From then on the job has gone too long without success, unless it runs.
  Instant overdue_at = never;

  // The result of a health check at `now`.
  Result<void> health(Instant now) const;
};

// The metrics of one job. Default-constructed, it counts nothing visible.
struct JobInstruments {
  metrics::Counter runs;                    // katana_job_runs_total
  metrics::Counter failures;                // runs that failed
  metrics::Counter retries;                 // runs that tried a failed tick again
  metrics::Counter skipped[skipped_count];  // ticks without a run, by Skipped
  metrics::Gauge running;                   // 1 during a run
  metrics::Gauge last_duration;             // of the last run, in seconds
  metrics::Gauge last_success;              // its end, in seconds of Unix time

  // Registers them with the label job=NAME. An Error: the registry has no place left.
  static Result<JobInstruments> make(metrics::Registry& registry, const std::string& job);
};

class JobStatus {
 public:
  explicit JobStatus(const JobInstruments& instruments = {}) : instruments_(instruments) {}

  // A copy, made under a lock.
  JobStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void begin(bool is_retry = false);
  // `failure` is empty when the run succeeded.
  void end(Timestamp wall, Duration took, std::string failure, Instant overdue_at);
  // The job did not run after all: another instance has the tick, or the program is about to end.
  void end_unused() noexcept;
  void skip(Skipped why, std::uint64_t count = 1) noexcept;
  void set_overdue_at(Instant at) noexcept;

 private:
  mutable std::mutex mutex_;  // guards figures_
  JobStatistics statistics_;
  const JobInstruments instruments_;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
