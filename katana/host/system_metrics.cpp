#include "katana/host/system_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "katana/host/http_check.hpp"

namespace katana::host {
namespace {

using metrics::Gauge;
using metrics::ObservedCounter;

double seconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

// One figure of a system: its name, what it is, and where it stands.
template <class Figures>
struct Row {
  const char* name;
  const char* help;
  double (*value)(const Figures&);
};

using PoolRow = Row<thread::Snapshot>;
constexpr std::array pool_counters{
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
constexpr std::array pool_gauges{
    PoolRow{"katana_pool_threads", "Workers.",
            [](const thread::Snapshot& of) { return double(of.threads); }},
    PoolRow{"katana_pool_threads_parked", "Workers that have nothing to do.",
            [](const thread::Snapshot& of) { return double(of.threads_parked); }},
    PoolRow{"katana_pool_jobs_queued", "Jobs that wait for a worker.",
            [](const thread::Snapshot& of) { return double(of.queued_total()); }},
    PoolRow{"katana_pool_wait_seconds_p99",
            "What 99 of 100 jobs waited for a worker at most, to a factor of two; of a sample.",
            [](const thread::Snapshot& of) { return seconds_of(of.wait.quantile(0.99)); }},
    PoolRow{"katana_pool_run_seconds_p99",
            "What 99 of 100 jobs ran at most, to a factor of two; of a sample.",
            [](const thread::Snapshot& of) { return seconds_of(of.run.quantile(0.99)); }}};

using DatabaseRow = Row<database::Figures>;
constexpr std::array database_counters{
    DatabaseRow{"katana_database_reads_here", "Reads that a reactor answered itself.",
                [](const database::Figures& of) { return double(of.reads_here); }},
    DatabaseRow{"katana_database_reads_pooled", "Reads that the readers' threads answered.",
                [](const database::Figures& of) { return double(of.reads_pooled); }},
    DatabaseRow{"katana_database_reads_moved", "Of these, begun on a reactor and too long for it.",
                [](const database::Figures& of) { return double(of.reads_moved); }},
    DatabaseRow{"katana_database_snapshots", "Read transactions that the reads of a turn shared.",
                [](const database::Figures& of) { return double(of.snapshots); }},
    DatabaseRow{"katana_database_writes", "Writes that were acknowledged.",
                [](const database::Figures& of) { return double(of.writes); }},
    DatabaseRow{"katana_database_commits", "Commits; writes that wait together share one.",
                [](const database::Figures& of) { return double(of.commits); }},
    DatabaseRow{"katana_database_transactions", "Transactions that the program began.",
                [](const database::Figures& of) { return double(of.transactions); }},
    DatabaseRow{"katana_database_transactions_expired", "Held for too long, and rolled back.",
                [](const database::Figures& of) { return double(of.transactions_expired); }},
    DatabaseRow{"katana_database_refusals_full", "Calls refused because a queue was full.",
                [](const database::Figures& of) { return double(of.refused_full); }},
    DatabaseRow{"katana_database_refusals_waited", "Calls refused after they waited for too long.",
                [](const database::Figures& of) { return double(of.refused_waited); }},
    DatabaseRow{"katana_database_refusals_unusable", "Calls refused: the database was not usable.",
                [](const database::Figures& of) { return double(of.refused_unusable); }},
    DatabaseRow{"katana_database_timeouts", "Calls that did not end before their deadline.",
                [](const database::Figures& of) { return double(of.timeouts); }},
    DatabaseRow{"katana_database_busy_retries", "Retries because another process held the lock.",
                [](const database::Figures& of) { return double(of.busy_retries); }},
    DatabaseRow{"katana_database_checkpoints", "Times that its log was written back.",
                [](const database::Figures& of) { return double(of.checkpoints); }},
    DatabaseRow{"katana_database_statements_prepared", "Statements that were not in the cache.",
                [](const database::Figures& of) { return double(of.statements_prepared); }},
    DatabaseRow{"katana_database_outages", "Times that it became unusable.",
                [](const database::Figures& of) { return double(of.outages); }}};
constexpr std::array database_gauges{
    DatabaseRow{"katana_database_usable", "1 if calls can be answered, else 0.",
                [](const database::Figures& of) { return of.usable ? 1.0 : 0.0; }},
    DatabaseRow{"katana_database_writes_waiting", "Writes in the queue.",
                [](const database::Figures& of) { return double(of.writes_waiting); }},
    DatabaseRow{"katana_database_reads_waiting", "Reads in the queue.",
                [](const database::Figures& of) { return double(of.reads_waiting); }},
    DatabaseRow{"katana_database_readers", "Threads for reads.",
                [](const database::Figures& of) { return double(of.readers); }},
    DatabaseRow{"katana_database_readers_busy", "Of these, at work.",
                [](const database::Figures& of) { return double(of.readers_busy); }},
    DatabaseRow{"katana_database_streams_open", "Streams of rows that are being read.",
                [](const database::Figures& of) { return double(of.streams_open); }}};

using LogRow = Row<log::Counts>;
constexpr std::array log_counters{
    LogRow{"katana_log_records", "Records that were written.",
           [](const log::Counts& of) { return double(of.records); }},
    LogRow{"katana_log_records_dropped", "Records for which there was no room.",
           [](const log::Counts& of) { return double(of.dropped); }},
    LogRow{"katana_log_warnings_dropped", "Of these, warnings and errors, which have a reserve.",
           [](const log::Counts& of) { return double(of.dropped_warnings); }},
    LogRow{"katana_log_records_lost", "Records that an output could not take.",
           [](const log::Counts& of) { return double(of.lost); }}};
constexpr std::array log_gauges{
    LogRow{"katana_log_waiting_bytes", "Records in memory that are not written yet.",
           [](const log::Counts& of) { return double(of.waiting_bytes); }},
    LogRow{"katana_log_fullest_ring_ratio",
           "How much of its memory the thread with most of them uses; at 1 records are dropped.",
           [](const log::Counts& of) { return of.fullest_ring; }}};

// A unit that a name ends with is said.
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

template <class Rows, class Instruments, class Figures>
void tell_all(const Rows& rows, const Instruments& instruments, const Figures& figures) {
  for (std::size_t index = 0; index < rows.size(); ++index) {
    tell(instruments[index], rows[index].value(figures));
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
      const thread::Snapshot figures = pools.all()[index]->snapshot();
      tell_all(pool_counters, counters[index], figures);
      tell_all(pool_gauges, gauges[index], figures);
    }
  });
  return {};
}

Result<void> add_database_metrics(metrics::Registry& registry, const database::Database& database) {
  auto counters = series_of<ObservedCounter>(registry, database_counters, "", {});
  if (!counters) return std::unexpected(counters.error());
  auto gauges = series_of<Gauge>(registry, database_gauges, "", {});
  if (!gauges) return std::unexpected(gauges.error());
  registry.before_scrape([&database, counters = counters->front(), gauges = gauges->front()] {
    const database::Figures figures = database.figures();
    tell_all(database_counters, counters, figures);
    tell_all(database_gauges, gauges, figures);
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

}  // namespace katana::host
