// ApplicationQueues: the job queue of a program: the queue itself, its handlers and their settings.
//
// Owns       the queue, the worker, and the listener for PostgreSQL's notifications.
// Borrows    the database, from open() to close(), and the arguments of start(), until stop().
// Thread     one, while no reactor runs.
// Allocates  at the start.
// Fails      check() and start() name the queue, and its key in the configuration if that is wrong.
// Invariant  a queue that is disabled has no handler, no metrics of attempts, and keeps its jobs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/app/database_driver.hpp"
#include "katana/app/settings.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/jobs/queue/queue_worker.hpp"

namespace katana::app {

// The services that start() needs to run the queue. All references outlive stop().
struct ApplicationQueuesPlace {
  net::Reactor& reactor;                     // on which the handlers run
  metrics::Registry& metrics;                // katana_queue_… are registered here
  metrics::HealthChecks& checks;             // the queue's health check is added here
  FailureObserver* failures = nullptr;       // gets failed attempts; null: none
  log::Logger logger = {};                   // of attempts and dead jobs; default: discards
  std::optional<std::uint64_t> seed = {};    // of jitter; none: by chance
  Duration drain_timeout = {};               // http.drain_timeout: jobs are given back before
  const DatabaseDrivers* drivers = nullptr;  // null: nothing listens for notifications
  trace::Tracer* tracer = nullptr;           // null: attempts have no spans
};

class ApplicationQueues {
 public:
  // Before check() and start(). Both report an invalid handler, or a queue that has two.
  void add(queue::QueueHandler handler) { handlers_.push_back(std::move(handler)); }
  bool empty() const noexcept { return handlers_.empty(); }
  // The names of the queues that the program handles.
  std::vector<std::string> names() const;

  // Checks handlers and settings. The Error has all mistakes. `has_database`: the program has one.
  Result<void> check(const QueueSettings& settings, bool has_database) const;
  // REQUIRES that check() passed.
  void open(database::Database& database, const QueueSettings& settings);
  void close() noexcept;
  // REQUIRES open().
  queue::JobQueue& queue() noexcept { return *queue_; }

  // Does nothing without handlers.
  Result<void> start(const DatabaseSettings& database, const QueueSettings& settings,
                     const ApplicationQueuesPlace& place);
  void stop() noexcept;

  // Adds pages of operations: queues and their dead letters. Adds nothing without handlers.
  Result<void> add_pages(Group& group);

 private:
  Result<void> listen(const DatabaseSettings& database, const ApplicationQueuesPlace& place);

  std::vector<queue::QueueHandler> handlers_;
  std::unique_ptr<queue::JobQueue> queue_;
  std::unique_ptr<queue::Worker> worker_;
  std::unique_ptr<DatabaseListener> listener_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
