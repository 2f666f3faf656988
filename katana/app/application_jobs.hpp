// ApplicationJobs: the jobs of a program, from the program's options and its settings to their
// runs.
//
// Owns       jobs, their figures, and their runners.
// Borrows    the arguments of start(), until stop().
// Thread     one, while no reactor runs; statistics() any.
// Allocates  at the start.
// Fails      check() and start() name the job, and its key in the configuration if that is wrong.
// Invariant  a job that is disabled has no runner, no metrics and no check.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/settings.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/jobs/job_runner.hpp"

namespace katana::app {

// Name of a job -> its settings: the section `jobs` of the configuration.
using JobSettingsMap = std::map<std::string, JobSettings>;

// The services that start() needs to run the jobs. All references outlive stop().
struct ApplicationJobsPlace {
  net::Reactor& reactor;                   // on which the jobs run
  metrics::Registry& metrics;              // katana_job_… are registered here
  metrics::HealthChecks& checks;           // each enabled job adds one
  jobs::JobLock* lock = nullptr;           // null: a job that needs one does not start
  FailureObserver* failures = nullptr;     // gets failed runs; null: none
  log::Logger logger = {};                 // of starts, ends and retries; default: discards
  std::optional<std::uint64_t> seed = {};  // of the jitter; none: by chance
  trace::Tracer* tracer = nullptr;         // null: runs have no spans
};

class ApplicationJobs {
 public:
  // Before check() and start(). Both report an invalid job, or a name that is used twice.
  void add(jobs::Job job);
  bool empty() const noexcept { return entries_.empty(); }
  // Some job that is enabled is run by one instance only.
  bool need_lock(const JobSettingsMap& settings) const;

  // Checks jobs and settings. The Error has all mistakes.
  Result<void> check(const JobSettingsMap& settings) const;
  Result<void> start(const JobSettingsMap& settings, const ApplicationJobsPlace& place);
  void stop() noexcept;

  // The statistics of a job. Nothing: there is no such job, or it is disabled.
  std::optional<jobs::JobStatistics> statistics(const std::string& name) const;
  // Those of all jobs that are enabled, with their names. Any thread, between start() and stop().
  std::vector<std::pair<std::string, jobs::JobStatistics>> statistics() const;

 private:
  struct Entry {
    jobs::Job job;
    std::shared_ptr<jobs::JobStatus> status;  // its health check has a share
    std::unique_ptr<jobs::JobRunner> runner;
  };

  Result<void> start_one(Entry& entry, const ApplicationJobsPlace& place);

  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
