#include "katana/stores/jobs/queue/queue_instruments.hpp"

namespace katana::queue {
namespace {

Result<void> add_counter(metrics::Registry& registry, const std::string& queue, const char* name,
                         const char* help, metrics::Counter& to) {
  const auto family = registry.counters({.name = name, .help = help, .labels = {"queue"}});
  if (!family) return std::unexpected(family.error());
  to = family->with(queue);
  return {};
}

Result<void> add_gauge(metrics::Registry& registry, const std::string& queue, const char* name,
                       const char* help, metrics::Gauge& to, const char* unit = "") {
  const auto family =
      registry.gauges({.name = name, .help = help, .labels = {"queue"}, .unit = unit});
  if (!family) return std::unexpected(family.error());
  to = family->with(queue);
  return {};
}

Result<void> add_histogram(metrics::Registry& registry, const std::string& queue, const char* name,
                           const char* help, metrics::LogHistogram& to) {
  const auto family =
      registry.log_histograms({.name = name, .help = help, .labels = {"queue"}, .unit = "seconds"});
  if (!family) return std::unexpected(family.error());
  to = family->with(queue);
  return {};
}

Result<void> add_counters(metrics::Registry& registry, const std::string& queue,
                          QueueInstruments& made) {
  const auto attempts =
      registry.counters({.name = "katana_queue_attempts",
                         .help = "Attempts at jobs of a queue that have ended, by outcome.",
                         .labels = {"queue", "outcome"}});
  if (!attempts) return std::unexpected(attempts.error());
  for (std::size_t how = 0; how < ended_count; ++how) {
    made.attempts[how] = attempts->with(queue, name_of(static_cast<Ended>(how)));
  }
  if (auto added =
          add_counter(registry, queue, "katana_queue_leases_expired",
                      "Leases of a queue that were found over: their jobs are done again, or dead.",
                      made.expired);
      !added) {
    return added;
  }
  if (auto added = add_counter(registry, queue, "katana_queue_removed",
                               "Done jobs and dead letters that were removed by their retention.",
                               made.removed);
      !added) {
    return added;
  }
  if (auto added = add_counter(registry, queue, "katana_queue_database_failures",
                               "Statements of a queue's worker that failed.", made.failures);
      !added) {
    return added;
  }
  return add_counter(registry, queue, "katana_queue_claims",
                     "Statements that claimed jobs of a queue, or found none.", made.claims);
}

Result<void> add_gauges(metrics::Registry& registry, const std::string& queue,
                        QueueInstruments& made) {
  struct Row {
    const char* name;
    const char* help;
    metrics::Gauge& gauge;
  };
  const Row rows[] = {
      {"katana_queue_running", "Jobs of a queue that this process is at.", made.running},
      {"katana_queue_ready", "Jobs of a queue that are due and wait for a worker.", made.ready},
      {"katana_queue_delayed", "Jobs of a queue that are due later.", made.delayed},
      {"katana_queue_dead", "Dead letters of a queue.", made.dead},
  };
  for (const Row& row : rows) {
    if (auto added = add_gauge(registry, queue, row.name, row.help, row.gauge); !added) {
      return added;
    }
  }
  return add_gauge(registry, queue, "katana_queue_oldest_seconds",
                   "How long the next job of a queue has been due; 0: none is.", made.oldest,
                   "seconds");
}

}  // namespace

Bytes name_of(Ended how) noexcept {
  switch (how) {
    case Ended::done: return "done";
    case Ended::retried: return "retried";
    case Ended::dead: return "dead";
    case Ended::lost: return "lost";
    case Ended::given_back: return "given_back";
    case Ended::unknown: return "unknown";
  }
  return "";
}

Result<QueueInstruments> QueueInstruments::make(metrics::Registry& registry,
                                                const std::string& queue) {
  QueueInstruments made;
  if (auto added = add_counters(registry, queue, made); !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_gauges(registry, queue, made); !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_histogram(registry, queue, "katana_queue_run_seconds",
                                 "Duration of attempts at jobs of a queue.", made.run);
      !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_histogram(registry, queue, "katana_queue_wait_seconds",
                                 "How long jobs of a queue were due before they began.", made.wait);
      !added) {
    return std::unexpected(added.error());
  }
  return made;
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
