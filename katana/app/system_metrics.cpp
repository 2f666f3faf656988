#include "katana/app/system_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "katana/app/http_check.hpp"
#include "katana/app/sandbox/refused_calls.hpp"
#include "katana/observe/crash/report_files.hpp"

namespace katana::app {
namespace {

using metrics::Gauge;
using metrics::ObservedCounter;

double seconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

// One figure of a system: its name, its help, and how it is read.
template <class Statistics>
struct Row {
  std::string name;
  std::string help;
  double (*value)(const Statistics&);
};

using PoolRow = Row<thread::Snapshot>;
const std::array pool_counters{
    PoolRow{"katana_pool_jobs_accepted", "Jobs that were accepted.",
            [](const thread::Snapshot& of) { return double(of.accepted); }},
    PoolRow{"katana_pool_jobs_ran", "Jobs that ran.",
            [](const thread::Snapshot& of) { return double(of.ran); }},
    PoolRow{"katana_pool_jobs_failed", "Jobs that ran, and ended with an exception.",
            [](const thread::Snapshot& of) { return double(of.failed); }},
    PoolRow{"katana_pool_jobs_cancelled", "Jobs that were accepted, and not run.",
            [](const thread::Snapshot& of) { return double(of.cancelled); }},
    PoolRow{"katana_pool_jobs_refused", "Jobs that were not accepted: the queue was full.",
            [](const thread::Snapshot& of) { return double(of.refused); }},
    PoolRow{"katana_pool_busy_seconds", "Time that the workers spent in jobs.",
            [](const thread::Snapshot& of) { return seconds_of(of.busy); }}};
const std::array pool_gauges{
    PoolRow{"katana_pool_threads", "Worker threads.",
            [](const thread::Snapshot& of) { return double(of.threads); }},
    PoolRow{"katana_pool_threads_parked", "Idle worker threads.",
            [](const thread::Snapshot& of) { return double(of.threads_parked); }},
    PoolRow{"katana_pool_jobs_queued", "Jobs that wait for a worker.",
            [](const thread::Snapshot& of) { return double(of.queued_total()); }},
    PoolRow{"katana_pool_wait_seconds_p99",
            "99th percentile of the time that jobs wait for a worker, to a factor of two, from a "
            "sample.",
            [](const thread::Snapshot& of) { return seconds_of(of.wait.quantile(0.99)); }},
    PoolRow{"katana_pool_run_seconds_p99",
            "99th percentile of the run time of jobs, to a factor of two, from a sample.",
            [](const thread::Snapshot& of) { return seconds_of(of.run.quantile(0.99)); }}};

// A row for each member of a described struct of numbers, named after it.
template <Described Statistics>
std::vector<Row<Statistics>> rows_of(std::string_view prefix) {
  std::vector<Row<Statistics>> rows;
  for_each_index<Statistics>([&](auto index) {
    constexpr const auto& field = field_of<Statistics, index>;
    rows.push_back({fmt::format("{}{}", prefix, field.name), std::string(field.rules.help),
                    [](const Statistics& of) { return double(of.*field.pointer); }});
  });
  return rows;
}

using LogRow = Row<log::Counts>;
const std::array log_counters{
    LogRow{"katana_log_records", "Records that were written.",
           [](const log::Counts& of) { return double(of.records); }},
    LogRow{"katana_log_records_dropped", "Records for which there was no room.",
           [](const log::Counts& of) { return double(of.dropped); }},
    LogRow{"katana_log_warnings_dropped",
           "Dropped warnings and errors. A part of the queue is reserved for them.",
           [](const log::Counts& of) { return double(of.dropped_warnings); }},
    LogRow{"katana_log_records_lost", "Records that an output could not take: it failed.",
           [](const log::Counts& of) { return double(of.lost); }},
    LogRow{"katana_log_output_records_dropped",
           "Records that were dropped because an output took nothing, or too little.",
           [](const log::Counts& of) { return double(of.dropped_by_outputs); }}};
using BusRow = Row<bus::BusStatistics>;
const std::array bus_counters{
    BusRow{"katana_bus_published", "Messages that were published.",
           [](const bus::BusStatistics& of) { return double(of.published); }},
    BusRow{"katana_bus_published_bytes", "Their payloads.",
           [](const bus::BusStatistics& of) { return double(of.published_bytes); }},
    BusRow{"katana_bus_refused", "Publications that were refused with an error.",
           [](const bus::BusStatistics& of) { return double(of.refused); }},
    BusRow{"katana_bus_delivered", "Messages given to subscribers of this process.",
           [](const bus::BusStatistics& of) { return double(of.delivered); }},
    BusRow{"katana_bus_received", "Messages of other processes.",
           [](const bus::BusStatistics& of) { return double(of.received); }},
    BusRow{"katana_bus_received_bytes", "Their payloads.",
           [](const bus::BusStatistics& of) { return double(of.received_bytes); }},
    BusRow{"katana_bus_dropped", "Messages dropped because too much waited for a reactor.",
           [](const bus::BusStatistics& of) { return double(of.dropped); }},
    BusRow{"katana_bus_missed",
           "Messages of other processes that were missed, as their numbers show.",
           [](const bus::BusStatistics& of) { return double(of.missed); }},
    BusRow{"katana_bus_uncertain", "Times that messages may have been missed, without a number.",
           [](const bus::BusStatistics& of) { return double(of.uncertain); }},
    BusRow{"katana_bus_requests", "Requests.",
           [](const bus::BusStatistics& of) { return double(of.requests); }},
    BusRow{"katana_bus_requests_failed", "Requests without an answer.",
           [](const bus::BusStatistics& of) { return double(of.requests_failed); }},
    BusRow{"katana_bus_reconnects", "Times that a server was connected to again.",
           [](const bus::BusStatistics& of) { return double(of.reconnects); }},
    BusRow{"katana_bus_kept_refused",
           "Publications that were refused because no server was there, and no room to keep them.",
           [](const bus::BusStatistics& of) { return double(of.kept_refused); }},
    BusRow{"katana_bus_stream_recoveries",
           "Times that a consumer of a stream, or what is submitted to it, went on after a loss.",
           [](const bus::BusStatistics& of) { return double(of.stream_recoveries); }},
    BusRow{"katana_bus_stream_gaps", "Times that messages of a stream were lost in an outage.",
           [](const bus::BusStatistics& of) { return double(of.stream_gaps); }},
    BusRow{"katana_bus_stream_missed",
           "Messages that left their stream before this process was given them.",
           [](const bus::BusStatistics& of) { return double(of.stream_missed); }},
    BusRow{"katana_bus_not_stored", "Submitted messages that no stream has stored, and none will.",
           [](const bus::BusStatistics& of) { return double(of.not_stored); }}};
const std::array bus_gauges{
    BusRow{"katana_bus_kept", "Messages that are kept for a server.",
           [](const bus::BusStatistics& of) { return double(of.kept); }},
    BusRow{"katana_bus_kept_size_bytes", "Their memory.",
           [](const bus::BusStatistics& of) { return double(of.kept_bytes); }},
    BusRow{"katana_bus_waiting", "Messages that wait for reactors.",
           [](const bus::BusStatistics& of) { return double(of.waiting); }},
    BusRow{"katana_bus_subscriptions", "Subscriptions of the process.",
           [](const bus::BusStatistics& of) { return double(of.subscriptions); }},
    BusRow{"katana_bus_streams_stalled", "Consumers and submissions that cannot go on.",
           [](const bus::BusStatistics& of) { return double(of.streams_stalled); }},
    BusRow{"katana_bus_submitted", "Messages that are kept until a stream has acknowledged them.",
           [](const bus::BusStatistics& of) { return double(of.submitted); }}};
using SandboxRow = Row<std::uint64_t>;
const std::array sandbox_counters{SandboxRow{"katana_sandbox_refused_calls",
                                             "System calls that process.sandbox refused.",
                                             [](const std::uint64_t& of) { return double(of); }}};
const std::array log_gauges{
    LogRow{"katana_log_waiting_bytes", "Records in memory that are not written yet.",
           [](const log::Counts& of) { return double(of.waiting_bytes); }},
    LogRow{"katana_log_fullest_ring_ratio",
           "How much of its memory the thread with most of them uses; at 1 records are dropped.",
           [](const log::Counts& of) { return of.fullest_ring; }}};

// The unit that a name ends with.
std::string unit_of(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('_') + 1);
  const bool is_unit = last == "seconds" || last == "bytes" || last == "ratio";
  return std::string(is_unit ? last : std::string_view());
}

template <class Instrument>
void tell(const Instrument& instrument, double value) {
  if constexpr (requires { instrument.observe(value); }) {
    instrument.observe(value);
  } else {
    instrument.set(value);
  }
}

// The series of these rows for each of `labels`; none: one series without a label.
template <class Instrument, class Rows>
Result<std::vector<std::vector<Instrument>>> series_of(metrics::Registry& registry,
                                                       const Rows& rows, const std::string& label,
                                                       const std::vector<std::string>& values) {
  std::vector<std::vector<Instrument>> all(values.empty() ? 1 : values.size());
  for (const auto& row : rows) {
    metrics::Description description{.name = row.name, .help = row.help};
    description.unit = unit_of(row.name);
    if (!values.empty()) description.labels = {label};
    auto family = [&] {
      if constexpr (std::is_same_v<Instrument, Gauge>) {
        return registry.gauges(std::move(description));
      } else {
        return registry.observed_counters(std::move(description));
      }
    }();
    if (!family) return std::unexpected(family.error());
    if (values.empty()) all.front().push_back(family->with());
    for (std::size_t index = 0; index < values.size(); ++index) {
      all[index].push_back(family->with(values[index]));
    }
  }
  return all;
}

template <class Rows, class Instruments, class Statistics>
void tell_all(const Rows& rows, const Instruments& instruments, const Statistics& statistics) {
  for (std::size_t index = 0; index < rows.size(); ++index) {
    tell(instruments[index], rows[index].value(statistics));
  }
}

}  // namespace

Result<void> add_pool_metrics(metrics::Registry& registry, const Pools& pools) {
  std::vector<std::string> names;
  for (const auto& pool : pools.all()) names.emplace_back(pool->name());
  auto counters = series_of<ObservedCounter>(registry, pool_counters, "pool", names);
  if (!counters) return std::unexpected(counters.error());
  auto gauges = series_of<Gauge>(registry, pool_gauges, "pool", names);
  if (!gauges) return std::unexpected(gauges.error());
  registry.before_scrape([&pools, counters = *counters, gauges = *gauges] {
    for (std::size_t index = 0; index < pools.all().size(); ++index) {
      const thread::Snapshot statistics = pools.all()[index]->snapshot();
      tell_all(pool_counters, counters[index], statistics);
      tell_all(pool_gauges, gauges[index], statistics);
    }
  });
  return {};
}

Result<void> add_bus_metrics(metrics::Registry& registry, const bus::Bus& bus) {
  auto counters = series_of<ObservedCounter>(registry, bus_counters, "", {});
  if (!counters) return std::unexpected(counters.error());
  auto gauges = series_of<Gauge>(registry, bus_gauges, "", {});
  if (!gauges) return std::unexpected(gauges.error());
  metrics::Description up{.name = "katana_bus_up", .help = "1: a server is connected."};
  auto connected = registry.gauges(std::move(up));
  if (!connected) return std::unexpected(connected.error());
  registry.before_scrape([&bus, counters = counters->front(), gauges = gauges->front(),
                          connected = connected->with()] {
    const bus::BusStatistics statistics = bus.statistics();
    tell_all(bus_counters, counters, statistics);
    tell_all(bus_gauges, gauges, statistics);
    const bus::BusState state = bus.health().state;
    connected.set(state == bus::BusState::connected || state == bus::BusState::in_process ? 1 : 0);
  });
  return {};
}

Result<void> add_database_metrics(metrics::Registry& registry, const database::Database& database) {
  auto counter_rows = rows_of<database::Counts>("katana_database_");
  auto gauge_rows = rows_of<database::Levels>("katana_database_");
  auto counters = series_of<ObservedCounter>(registry, counter_rows, "", {});
  if (!counters) return std::unexpected(counters.error());
  auto gauges = series_of<Gauge>(registry, gauge_rows, "", {});
  if (!gauges) return std::unexpected(gauges.error());
  registry.before_scrape([&database, counter_rows = std::move(counter_rows),
                          gauge_rows = std::move(gauge_rows), counters = counters->front(),
                          gauges = gauges->front()] {
    const database::Statistics statistics = database.statistics();
    tell_all(counter_rows, counters, statistics);
    tell_all(gauge_rows, gauges, statistics);
  });
  return {};
}

Result<void> add_log_metrics(metrics::Registry& registry, const log::Log& log) {
  auto counters = series_of<ObservedCounter>(registry, log_counters, "", {});
  if (!counters) return std::unexpected(counters.error());
  auto gauges = series_of<Gauge>(registry, log_gauges, "", {});
  if (!gauges) return std::unexpected(gauges.error());
  registry.before_scrape([&log, counters = counters->front(), gauges = gauges->front()] {
    const log::Counts counts = log.counts();
    tell_all(log_counters, counters, counts);
    tell_all(log_gauges, gauges, counts);
  });
  return {};
}

Result<void> add_sandbox_metrics(metrics::Registry& registry) {
  auto counters = series_of<ObservedCounter>(registry, sandbox_counters, "", {});
  if (!counters) return std::unexpected(counters.error());
  registry.before_scrape([counters = counters->front()] {
    tell_all(sandbox_counters, counters, sandbox::refused_calls());
  });
  return {};
}

Result<void> add_crash_metrics(metrics::Registry& registry, const std::string& folder,
                               const std::string& program) {
  if (folder.empty()) return {};
  auto reports = registry.gauge("katana_crash_reports",
                                "Crash reports of the program that were kept at its start.");
  if (!reports) return std::unexpected(reports.error());
  reports->set(static_cast<double>(crash::count_reports(folder, program)));
  return {};
}

Result<void> add_log_check(metrics::HealthChecks& checks, const log::Log& log) {
  return checks.add({.name = "log",
                     .run = [&log](std::stop_token) { return log.health(); },
                     .required = false,
                     .may_block = false});
}

Result<void> add_pool_checks(metrics::HealthChecks& checks, const Pools& pools) {
  for (const auto& pool : pools.all()) {
    const auto run = [&one = *pool](std::stop_token) -> Result<void> {
      const thread::Snapshot now = one.snapshot();
      const std::uint64_t most = *std::ranges::max_element(now.queued);
      if (most < one.queue_max()) return {};
      return fail(Code::resource_exhausted,
                  fmt::format("{} jobs wait in a queue of {}", most, one.queue_max()));
    };
    auto added = checks.add({.name = fmt::format("pool {}", pool->name()),
                             .kind = metrics::CheckKind::readiness,
                             .run = run});
    if (!added) return added;
  }
  return {};
}

Result<void> add_upstream_checks(metrics::HealthChecks& checks,
                                 const ApplicationSettings& settings) {
  for (const auto& [name, upstream] : settings.monitor.upstreams) {
    HttpCheckOptions options{.name = "upstream " + name,
                             .url = upstream.url,
                             .timeout = upstream.timeout,
                             .fresh_for = upstream.fresh_for};
    options.client.tls.authorities_file = upstream.authorities_file;
    auto check = http_check(std::move(options));
    if (!check) return std::unexpected(check.error().within("monitor.upstreams"));
    if (auto added = checks.add(*std::move(check)); !added) return added;
  }
  return {};
}

Result<void> add_database_check(metrics::HealthChecks& checks, const database::Database& database) {
  return checks.add({.name = "database",
                     .kind = metrics::CheckKind::readiness,
                     .run = [&database](std::stop_token) { return database.health(); }});
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
