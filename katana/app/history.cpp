#include "katana/app/history.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <thread>
#include <utility>

#include "katana/http/server/reactor_probe.hpp"
#include "katana/observe/metrics/process.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::app {
namespace {

using metrics::detail::FamilyState;

std::int64_t ms_of(Timestamp time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::int64_t difference(std::uint64_t now, std::uint64_t before) {
  return now > before ? static_cast<std::int64_t>(now - before) : 0;
}

// A reactor that is busy for longer has its former figures.
void wait_for_answers(const std::vector<std::shared_ptr<server::ReactorStatus>>& reactors) {
  constexpr int tries = 50;
  const auto answered = [](const auto& reactor) { return reactor->answered(); };
  for (int attempt = 0; attempt < tries && !std::ranges::all_of(reactors, answered); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // of a thread of the pool
  }
}

// The values of the labels of each series.
std::vector<std::vector<std::string>> series_of(FamilyState& family) {
  std::vector<std::vector<std::string>> series;
  const auto lock = family.lock();
  for (std::size_t index = 0; index < family.series_count(); ++index) {
    std::vector<std::string>& labels = series.emplace_back();
    std::string_view values = family.label_values(index);
    while (!values.empty()) {
      const std::size_t end = std::min(values.find(FamilyState::separator), values.size());
      labels.emplace_back(values.substr(0, end));
      values.remove_prefix(std::min(end + 1, values.size()));
    }
  }
  return series;
}

// "GET /users", as other pages name a route.
std::string route_of(const std::vector<std::string>& labels) {
  if (labels.size() < 2) return {};
  if (labels[1] == "_unmatched") return "(no route)";
  return (labels[0] == "_any" ? "" : labels[0] + " ") + labels[1];
}

// "2xx" → 2; of others 0.
std::size_t class_of(const std::string& status) {
  const bool is_class = status.size() == 3 && status[0] >= '1' && status[0] <= '5';
  return is_class ? static_cast<std::size_t>(status[0] - '0') : 0;
}

template <std::size_t N>
std::size_t bucket_of(std::uint64_t ns, const std::array<std::int64_t, N>& bounds_us) {
  const auto us = static_cast<std::int64_t>(ns / 1'000);
  return static_cast<std::size_t>(std::ranges::lower_bound(bounds_us, us) - bounds_us.begin());
}

}  // namespace

void History::count_requests(Counts& counts) const {
  for (FamilyState* const family : observability_.registry().families()) {
    const std::string& name = family->description().name;
    if (name == "katana_http_route_requests") {
      const auto series = series_of(*family);
      for (std::uint32_t index = 0; index < series.size(); ++index) {
        counts.requests[class_of(series[index].back())] += family->counter(index).value();
      }
    } else if (name == "katana_reactor_stalls") {
      const auto series = series_of(*family);
      for (std::uint32_t index = 0; index < series.size(); ++index) {
        counts.stalls += family->counter(index).value();
      }
    } else if (name == "katana_http_route_duration_seconds") {
      const auto series = series_of(*family);
      for (std::uint32_t index = 0; index < series.size(); ++index) {
        const metrics::LogSnapshot snapshot = family->log_histogram(index).snapshot();
        if (snapshot.count == 0) continue;
        Buckets& durations = counts.durations[route_of(series[index])];
        for (std::size_t bucket = 0; bucket < snapshot.counts.size(); ++bucket) {
          if (snapshot.counts[bucket] == 0) continue;
          const bool is_last = bucket + 1 == snapshot.counts.size();
          const std::size_t to =
              is_last ? buckets - 1 : bucket_of(snapshot.buckets.upper(bucket), bounds_us);
          durations[to] += snapshot.counts[bucket];
        }
      }
    }
  }
}

History::Counts History::count(Timestamp now) const {
  Counts counts;
  counts.at_ms = ms_of(now);
  count_requests(counts);
  const auto reactors = observability_.ask_reactors();
  wait_for_answers(reactors);
  for (const auto& each : reactors) counts.busy_ns.push_back(each->statistics().cpu_time.ns);
  if (database_ != nullptr) {
    const database::Statistics statistics = database_->statistics();
    counts.reads = statistics.reads_here + statistics.reads_pooled;
    counts.writes = statistics.writes;
  }
  return counts;
}

History::Column History::compare(const Counts& before, const Counts& now) {
  Column column;
  HistoryColumn& figures = column.figures;
  figures.at_ms = now.at_ms;
  figures.span_ms = std::max<std::int64_t>(now.at_ms - before.at_ms, 1);
  for (std::size_t status = 0; status < statuses; ++status) {
    figures.statuses.push_back(difference(now.requests[status], before.requests[status]));
  }
  for (std::size_t index = 0; index < now.busy_ns.size(); ++index) {
    const bool is_known = index < before.busy_ns.size();
    const std::int64_t ns = is_known ? now.busy_ns[index] - before.busy_ns[index] : 0;
    const double share = static_cast<double>(ns) / (static_cast<double>(figures.span_ms) * 1e6);
    figures.busy_permille.push_back(std::llround(1000 * std::clamp(share, 0.0, 1.0)));
  }
  figures.stalls = difference(now.stalls, before.stalls);
  figures.database_reads = difference(now.reads, before.reads);
  figures.database_writes = difference(now.writes, before.writes);
  for (const auto& [route, durations] : now.durations) {
    const auto known = before.durations.find(route);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint64_t was = known != before.durations.end() ? known->second[bucket] : 0;
      const std::int64_t count = difference(durations[bucket], was);
      if (count != 0) column.cells.push_back({route, bucket, count});
    }
  }
  return column;
}

void History::tick(Timestamp now) {
  Counts counts = count(now);
  const auto process = metrics::read_process();
  const std::lock_guard lock(mutex_);
  if (has_begun_) {
    Column column = compare(last_, counts);
    if (process) column.figures.resident_bytes = std::llround(process->resident_bytes);
    columns_.push_back(std::move(column));
    if (columns_.size() > columns_max) columns_.pop_front();
  }
  has_begun_ = true;
  last_ = std::move(counts);
  if (++ticks_ % ticks_in_window == 0) slowest_.next_window();
}

HistoryDocument History::document() const {
  HistoryDocument document{.interval_s = interval.ns / 1'000'000'000,
                           .columns_max = static_cast<std::int64_t>(columns_max),
                           .bounds_us = {bounds_us.begin(), bounds_us.end()},
                           .has_database = database_ != nullptr};
  for (const auto& each : slowest_.entries()) {
    document.slowest.push_back({.method = each.method,
                                .route = each.route,
                                .status = each.status,
                                .duration_ms = each.duration.count_ms(),
                                .at_ms = each.at_ms,
                                .request_id = each.request_id,
                                .trace_id = each.trace_id});
  }
  std::map<std::string, std::vector<std::int64_t>> routes;
  const std::lock_guard lock(mutex_);
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    document.columns.push_back(columns_[index].figures);
    for (const Cell& each : columns_[index].cells) {
      std::vector<std::int64_t>& cells = routes[each.route];
      cells.push_back(static_cast<std::int64_t>(index));
      cells.push_back(static_cast<std::int64_t>(each.bucket));
      cells.push_back(each.count);
    }
  }
  for (auto& [route, cells] : routes) document.routes.push_back({route, std::move(cells)});
  return document;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
