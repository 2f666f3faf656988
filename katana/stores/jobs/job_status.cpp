#include "katana/stores/jobs/job_status.hpp"

#include <fmt/format.h>

#include <utility>

namespace katana::jobs {

Bytes name_of(Skipped why) noexcept {
  switch (why) {
    case Skipped::running: return "running";
    case Skipped::late: return "late";
    case Skipped::backing_off: return "backing_off";
    case Skipped::other_instance: return "other_instance";
  }
  return "";
}

Result<void> JobStatistics::health(Instant now) const {
  if (!last_failure.empty()) {
    return fail(Code::unavailable, fmt::format("the last run failed ({} in a row): {}",
                                               failures_in_a_row, last_failure));
  }
  if (running || now < overdue_at) return {};
  if (!last_success) return fail(Code::unavailable, "overdue: no run has succeeded yet");
  return fail(Code::unavailable, fmt::format("overdue: the last run that succeeded ended {}",
                                             Bytes(TextForm<Timestamp>::write(*last_success))));
}

Result<JobInstruments> JobInstruments::make(metrics::Registry& registry, const std::string& job) {
  const auto runs = registry.counters(
      {.name = "katana_job_runs", .help = "Runs of a job that have ended.", .labels = {"job"}});
  if (!runs) return std::unexpected(runs.error());
  const auto failures = registry.counters(
      {.name = "katana_job_failures",
       .help = "Runs of a job that threw, returned an error, timed out or were cancelled.",
       .labels = {"job"}});
  if (!failures) return std::unexpected(failures.error());
  const auto retries =
      registry.counters({.name = "katana_job_retries",
                         .help = "Further attempts of a tick whose run had failed.",
                         .labels = {"job"}});
  if (!retries) return std::unexpected(retries.error());
  const auto skipped =
      registry.counters({.name = "katana_job_skipped",
                         .help = "Ticks of a job's schedule that were not run, by reason.",
                         .labels = {"job", "reason"}});
  if (!skipped) return std::unexpected(skipped.error());
  const auto running = registry.gauges({.name = "katana_job_running",
                                        .help = "1 while the job runs, or waits for its jitter.",
                                        .labels = {"job"}});
  if (!running) return std::unexpected(running.error());
  const auto duration = registry.gauges({.name = "katana_job_last_duration_seconds",
                                         .help = "Duration of the last run of a job.",
                                         .labels = {"job"},
                                         .unit = "seconds"});
  if (!duration) return std::unexpected(duration.error());
  const auto success = registry.gauges(
      {.name = "katana_job_last_success_timestamp_seconds",
       .help = "When the last run of a job that succeeded ended, since 1970; 0: none has.",
       .labels = {"job"},
       .unit = "seconds"});
  if (!success) return std::unexpected(success.error());
  JobInstruments made;
  made.runs = runs->with(job);
  made.failures = failures->with(job);
  made.retries = retries->with(job);
  for (std::size_t why = 0; why < skipped_count; ++why) {
    made.skipped[why] = skipped->with(job, name_of(static_cast<Skipped>(why)));
  }
  made.running = running->with(job);
  made.last_duration = duration->with(job);
  made.last_success = success->with(job);
  return made;
}

void JobStatus::begin(bool is_retry) {
  const std::lock_guard lock(mutex_);
  if (is_retry) {
    ++statistics_.retries;
    instruments_.retries.add();
  }
  statistics_.running = true;
  instruments_.running.set(1);
}

void JobStatus::end(Timestamp wall, Duration took, std::string failure, Instant overdue_at) {
  const std::lock_guard lock(mutex_);
  statistics_.running = false;
  instruments_.running.set(0);
  ++statistics_.runs;
  instruments_.runs.add();
  statistics_.last_duration = took;
  instruments_.last_duration.set(static_cast<double>(took.ns) / 1e9);
  statistics_.last_failure = std::move(failure);
  if (!statistics_.last_failure.empty()) {
    ++statistics_.failures;
    ++statistics_.failures_in_a_row;
    instruments_.failures.add();
    return;
  }
  statistics_.failures_in_a_row = 0;
  statistics_.last_success = wall;
  statistics_.overdue_at = overdue_at;
  instruments_.last_success.set(static_cast<double>(wall.time_since_epoch().count()) / 1e6);
}

void JobStatus::end_unused() noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.running = false;
  instruments_.running.set(0);
}

void JobStatus::skip(Skipped why, std::uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.skipped[static_cast<std::size_t>(why)] += count;
  instruments_.skipped[static_cast<std::size_t>(why)].add(count);
}

void JobStatus::set_overdue_at(Instant at) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.overdue_at = at;
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
