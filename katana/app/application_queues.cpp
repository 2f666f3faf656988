#include "katana/app/application_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/app/queue_pages.hpp"

namespace katana::app {
namespace {

const QueueHandlerSettings& settings_of(const std::string& queue, const QueueSettings& settings) {
  static const QueueHandlerSettings unsaid;
  const auto found = settings.handlers.find(queue);
  return found != settings.handlers.end() ? found->second : unsaid;
}

queue::HandlerOptions options_of(const queue::QueueHandler& handler,
                                 const QueueHandlerSettings& said) {
  queue::HandlerOptions options = handler.options;
  if (said.concurrency != 0) options.concurrency = said.concurrency;
  if (said.attempts_max != 0) options.attempts_max = said.attempts_max;
  const auto take = [](Duration from, Duration& to) {
    if (from > Duration{}) to = from;
  };
  take(said.timeout, options.timeout);
  take(said.lease, options.lease);
  take(said.backoff_min, options.backoff_min);
  take(said.backoff_max, options.backoff_max);
  take(said.poll, options.poll);
  take(said.done_kept, options.done_kept);
  take(said.dead_kept, options.dead_kept);
  return options;
}

// The time for statements that give jobs back, before the drain's own end cancels them.
constexpr Duration drain_rest = milliseconds(500);

// Jobs are given back before the drain cuts everything off.
void fit_drain(queue::HandlerOptions& options, Duration drain_timeout) {
  options.stop_grace = std::min(options.stop_grace, Duration{drain_timeout.ns / 4});
  const Duration rest{drain_timeout.ns - options.stop_grace.ns - drain_rest.ns};
  options.drain_grace = std::clamp(rest, Duration{}, options.drain_grace);
}

Result<void> add_counters(metrics::Registry& metrics, queue::JobQueue& queue) {
  const auto queued = metrics.observed_counters(
      {.name = "katana_queue_jobs_queued",
       .help = "Jobs that this process queued, also in transactions that were rolled back."});
  if (!queued) return std::unexpected(queued.error());
  const auto known = metrics.observed_counters(
      {.name = "katana_queue_jobs_known",
       .help = "Jobs that were not queued because one with their key was there."});
  if (!known) return std::unexpected(known.error());
  metrics.before_scrape([queued = queued->with(), known = known->with(), &queue] {
    queued.observe(static_cast<double>(queue.counts().queued));
    known.observe(static_cast<double>(queue.counts().known));
  });
  return {};
}

}  // namespace

Result<void> ApplicationQueues::check(const QueueSettings& settings, bool has_database) const {
  if (!handlers_.empty() && !has_database) {
    return fail(Code::invalid_argument,
                fmt::format("queue '{}' needs a database: give the program one "
                            "(ApplicationOptions::database)",
                            handlers_.front().queue));
  }
  std::string names;
  for (const queue::QueueHandler& handler : handlers_) {
    const QueueHandlerSettings& said = settings_of(handler.queue, settings);
    const auto checked = options_of(handler, said).check(handler.queue);
    if (!checked) {
      return std::unexpected(checked.error().within("queue.handlers." + handler.queue));
    }
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", handler.queue);
    const auto same = [&](const auto& other) { return other.queue == handler.queue; };
    if (std::ranges::count_if(handlers_, same) > 1) {
      return fail(
          Code::already_exists,
          fmt::format("queue '{}' has two handlers: give their jobs two queues", handler.queue));
    }
  }
  for (const auto& [name, unused] : settings.handlers) {
    const auto same = [&](const auto& handler) { return handler.queue == name; };
    if (std::ranges::any_of(handlers_, same)) continue;
    return fail(Code::invalid_argument,
                names.empty()
                    ? fmt::format("queue.handlers.{}: this program handles no queues", name)
                    : fmt::format("queue.handlers.{}: unknown queue, there are {}", name, names));
  }
  return {};
}

void ApplicationQueues::open(database::Database& database, const QueueSettings& settings) {
  queue_ = std::make_unique<queue::JobQueue>(
      database,
      queue::QueueOptions{.payload_bytes_max = static_cast<std::size_t>(settings.payload_max.bytes),
                          .make_table = settings.make_table,
                          .notify = settings.notify});
}

void ApplicationQueues::close() noexcept { queue_.reset(); }

Result<void> ApplicationQueues::start(const DatabaseSettings& database,
                                      const QueueSettings& settings,
                                      const ApplicationQueuesPlace& place) {
  if (auto checked = check(settings, queue_ != nullptr); !checked) return checked;
  if (handlers_.empty()) return {};
  worker_ = std::make_unique<queue::Worker>(*queue_);
  for (queue::QueueHandler& handler : handlers_) {
    const QueueHandlerSettings& said = settings_of(handler.queue, settings);
    if (!said.enabled) {
      place.logger.info("queue {}: not worked by this process", handler.queue);
      continue;
    }
    queue::HandlerOptions options = options_of(handler, said);
    fit_drain(options, place.drain_timeout);
    place.logger.info("queue {}: {} jobs at a time", handler.queue, options.concurrency);
    worker_->add({handler.queue, std::move(handler.handler), options});
  }
  if (auto added = add_counters(place.metrics, *queue_); !added) return added;
  if (auto started = worker_->start(place.reactor, {.metrics = place.metrics,
                                                    .failures = place.failures,
                                                    .seed = place.seed,
                                                    .tracer = place.tracer});
      !started) {
    return started;
  }
  return settings.notify && !worker_->empty() ? listen(database, place) : Result<void>();
}

Result<void> ApplicationQueues::listen(const DatabaseSettings& database,
                                       const ApplicationQueuesPlace& place) {
  if (place.drivers == nullptr) return {};
  auto listening = place.drivers->listen(
      database, queue::notify_channel,
      [queue = queue_.get()](const std::string& name) { queue->wake(name); },
      [logger = place.logger](const database::Outage& outage) {
        if (outage.why.empty()) {
          logger.info("notified of jobs by {} again, after {} ms", outage.where,
                      outage.lasted.count_ms());
        } else {
          logger.warn("not notified of jobs by {}, which are found by the poll: {}", outage.where,
                      outage.why);
        }
      });
  if (!listening) return std::unexpected(listening.error().within("queue"));
  listener_ = *std::move(listening);
  if (listener_ == nullptr) return {};
  // Jobs are found all the same, by the poll.
  return place.checks.add({.name = "queue notifications",
                           .run = [this](std::stop_token) -> Result<void> {
                             return listener_ != nullptr ? listener_->health() : Result<void>();
                           },
                           .required = false,
                           .may_block = false});
}

void ApplicationQueues::stop() noexcept {
  listener_.reset();
  worker_.reset();
}

std::vector<std::string> ApplicationQueues::names() const {
  std::vector<std::string> names;
  for (const queue::QueueHandler& handler : handlers_) names.push_back(handler.queue);
  return names;
}

Result<void> ApplicationQueues::add_pages(Group& group) {
  if (handlers_.empty() || queue_ == nullptr) return {};
  return add_queue_pages(group, *queue_, names());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
