// The work of an application that no request asks for: jobs, queues, spawned tasks.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/app/program.hpp"
#include "katana/net/reactor/task_scope.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/jobs/database/database_lock.hpp"

namespace katana::app {

Result<void> Program::start_jobs() {
  const JobSettingsMap settings = this->settings()->jobs;
  jobs::JobLock* lock = nullptr;
  if (jobs_.need_lock(settings)) {
    lock = services_->find<jobs::JobLock>();
    if (lock == nullptr) {
      job_lock_ = make_redis_job_lock();
      if (job_lock_ == nullptr && database_) {
        job_lock_ = std::make_unique<jobs::DatabaseJobLock>(*database_);
      }
      lock = job_lock_.get();
    }
  }
  auto started =
      jobs_.start(settings, {.reactor = server_->first_reactor(),
                             .metrics = observability_->registry(),
                             .checks = observability_->checks(),
                             .lock = lock,
                             .failures = failures_.get(),
                             .logger = log_->logger("jobs"),
                             .seed = embedding_ ? std::optional(embedding_->seed) : std::nullopt,
                             .tracer = services_->find<trace::Tracer>()});
  return started ? start_queues() : started;
}

Result<void> Program::start_queues() {
  const auto present = settings();
  return queues_.start(
      present->database, present->queue,
      {.reactor = server_->first_reactor(),
       .metrics = observability_->registry(),
       .checks = observability_->checks(),
       .failures = failures_.get(),
       .logger = log_->logger("queue"),
       .seed = embedding_ ? std::optional(embedding_->seed) : std::nullopt,
       .drain_timeout = present->http.drain_timeout,
       .drivers = embedding_ || options_.database.empty() ? nullptr : &options_.database,
       .tracer = services_->find<trace::Tracer>()});
}

namespace {

// A message to the first reactor, which destroys it.
struct SpawnMessage : Message {
  SpawnMessage(net::Reactor& to, jobs::JobFunction given, std::string called)
      : Message([](Message& message) noexcept {
          const std::unique_ptr<SpawnMessage> self(static_cast<SpawnMessage*>(&message));
          net::TaskScope& tasks = self->reactor.tasks();
          const auto spawned = tasks.spawn(jobs::run_and_hold(std::move(self->f)), self->name);
          if (spawned || tasks.options().failures == nullptr) return;
          tasks.options().failures->on_failure(
              {.what = "it was not run", .error = &spawned.error(), .place = self->name});
        }),
        reactor(to),
        f(std::move(given)),
        name(std::move(called)) {}
  net::Reactor& reactor;
  jobs::JobFunction f;
  std::string name;
};

}  // namespace

Result<void> Program::spawn(jobs::JobFunction f, std::string name) {
  const std::lock_guard lock(server_mutex_);
  if (!server_) {
    return fail(Code::unavailable,
                "spawn() was called before the program had started, or after its end: call it in "
                "on_start() or later");
  }
  net::Reactor& reactor = server_->first_reactor();
  reactor.post(*std::make_unique<SpawnMessage>(reactor, std::move(f), std::move(name)).release());
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
