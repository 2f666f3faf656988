#include "katana/app/application_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace katana::app {
namespace {

const JobSettings& settings_of(const jobs::Job& job, const JobSettingsMap& settings) {
  static const JobSettings unsaid;
  const auto found = settings.find(job.name);
  return found != settings.end() ? found->second : unsaid;
}

Result<jobs::Schedule> schedule_of(const jobs::Job& job, const JobSettings& settings) {
  if (settings.schedule.empty()) return job.schedule;
  auto parsed = jobs::Schedule::parse(settings.schedule);
  if (!parsed) return std::unexpected(parsed.error().within(fmt::format("jobs.{}", job.name)));
  return parsed;
}

void take_retry(const JobRetrySettings& from, jobs::JobRetry& to) {
  if (from.retries_max) to.retries_max = *from.retries_max;
  if (from.delay) to.delay = *from.delay;
  if (from.delay_max) to.delay_max = *from.delay_max;
  // A delay alone does not contradict the program's own bound.
  if (from.delay && !from.delay_max) to.delay_max = std::max(to.delay_max, to.delay);
}

}  // namespace

void ApplicationJobs::add(jobs::Job job) {
  entries_.push_back(std::make_unique<Entry>(Entry{std::move(job), nullptr, nullptr}));
}

bool ApplicationJobs::need_lock(const JobSettingsMap& settings) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) {
    return entry->job.options.one_instance && settings_of(entry->job, settings).enabled;
  });
}

Result<void> ApplicationJobs::check(const JobSettingsMap& settings) const {
  std::string names;
  for (const auto& entry : entries_) {
    const jobs::Job& job = entry->job;
    if (auto checked = job.check(); !checked) return checked;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", job.name);
    const auto same = [&](const auto& other) { return other->job.name == job.name; };
    if (std::ranges::count_if(entries_, same) > 1) {
      return fail(Code::already_exists,
                  fmt::format("job '{}' is there twice: give one another name", job.name));
    }
    if (auto parsed = schedule_of(job, settings_of(job, settings)); !parsed) {
      return std::unexpected(parsed.error());
    }
    jobs::JobRetry retry = job.options.retry;
    take_retry(settings_of(job, settings).retry, retry);
    if (auto checked = retry.check(); !checked) {
      return std::unexpected(checked.error().within(fmt::format("jobs.{}.retry", job.name)));
    }
  }
  for (const auto& [name, unused] : settings) {
    const auto same = [&](const auto& entry) { return entry->job.name == name; };
    if (std::ranges::any_of(entries_, same)) continue;
    return fail(Code::invalid_argument,
                names.empty() ? fmt::format("jobs.{}: this program has no jobs", name)
                              : fmt::format("jobs.{}: unknown job, there are {}", name, names));
  }
  return {};
}

Result<void> ApplicationJobs::start(const JobSettingsMap& settings,
                                    const ApplicationJobsPlace& place) {
  if (auto checked = check(settings); !checked) return checked;
  for (const auto& entry : entries_) {
    const JobSettings& own = settings_of(entry->job, settings);
    if (!own.enabled) {
      place.logger.info("job {}: disabled", entry->job.name);
      continue;
    }
    entry->job.schedule = *schedule_of(entry->job, own);
    take_retry(own.retry, entry->job.options.retry);
    // Checks the job with the schedule of the configuration, too.
    if (auto checked = entry->job.check(); !checked) return checked;
    if (auto started = start_one(*entry, place); !started) return started;
  }
  return {};
}

Result<void> ApplicationJobs::start_one(Entry& entry, const ApplicationJobsPlace& place) {
  const jobs::Job& job = entry.job;
  if (job.options.one_instance && place.lock == nullptr) {
    return fail(Code::invalid_argument,
                fmt::format("job '{}' runs in one instance only and needs a lock that all "
                            "instances share. Give the program a database "
                            "(ApplicationOptions::database), set redis.url, or register a "
                            "jobs::JobLock",
                            job.name));
  }
  const auto instruments = jobs::JobInstruments::make(place.metrics, job.name);
  if (!instruments) return std::unexpected(instruments.error());
  entry.status = std::make_shared<jobs::JobStatus>(*instruments);
  const auto look = [status = entry.status, &checks = place.checks](std::stop_token) {
    return status->statistics().health(checks.now());
  };
  auto added = place.checks.add({.name = "job " + job.name,
                                 .kind = metrics::CheckKind::readiness,
                                 .run = look,
                                 .required = job.options.needed_for_ready,
                                 .may_block = false});
  if (!added) return added;
  // The seed is random: the instances of a program do not jitter alike.
  const auto draw = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  };
  const std::uint64_t seed = place.seed ? *place.seed : draw();
  entry.runner = std::make_unique<jobs::JobRunner>(
      place.reactor, entry.job, *entry.status,
      jobs::JobRunnerOptions{
          .lock = place.lock, .failures = place.failures, .seed = seed, .tracer = place.tracer});
  entry.runner->start();
  place.logger.info("job {}: {}", job.name, job.schedule.text());
  return {};
}

void ApplicationJobs::stop() noexcept {
  for (const auto& entry : entries_) entry->runner.reset();
}

std::optional<jobs::JobStatistics> ApplicationJobs::statistics(const std::string& name) const {
  for (const auto& entry : entries_) {
    if (entry->job.name == name && entry->status) return entry->status->statistics();
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, jobs::JobStatistics>> ApplicationJobs::statistics() const {
  std::vector<std::pair<std::string, jobs::JobStatistics>> all;
  for (const auto& entry : entries_) {
    if (entry->status) all.emplace_back(entry->job.name, entry->status->statistics());
  }
  return all;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
