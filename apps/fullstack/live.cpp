#include "fullstack/live.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "katana/container.hpp"
#include "katana/http.hpp"
#include "katana/metrics.hpp"
#include "katana/reactor_statistics.hpp"

namespace katana::fullstack {
namespace {

constexpr std::chrono::seconds interval{1};
constexpr const char* events_path = "/dashboard/events";
constexpr std::size_t lines_told_max = 20;  // in one event
constexpr std::size_t rates_kept = 120;
constexpr int looks_after_last_reader = 10;  // a page that is loaded again finds its figures

EventTopicOptions topic_options() {
  EventTopicOptions options;
  options.events_kept_max = 60;
  options.bytes_kept_max = 512 * 1024;
  options.recent_for_new = 2;
  options.subscribers_max = 64;
  return options;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A reactor that is busy for longer keeps its former figures.
void wait_for_answers(const std::vector<std::shared_ptr<server::ReactorStatus>>& reactors) {
  constexpr int tries = 50;
  const auto answered = [](const auto& reactor) { return reactor->answered(); };
  for (int attempt = 0; attempt < tries && !std::ranges::all_of(reactors, answered); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double rate(std::uint64_t before, std::uint64_t now, double seconds_between) {
  return now > before ? static_cast<double>(now - before) / seconds_between : 0;
}

}  // namespace

Live::Live(database::Database& database, log::Log& log, server::Observability& observability,
           std::shared_ptr<const LogTail> tail)
    : database_(database),
      log_(log),
      observability_(observability),
      tail_(std::move(tail)),
      topic_(topic_options()),
      life_(std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1)),
      thread_([this] { watch(); }) {}

Live::~Live() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Live::add_to(Group routes) {
  routes
      .get(events_path,
           [this](const RequestView& request) {
             begin_looking();
             return topic_.subscribe(request);
           })
      .get("/dashboard/lines", [this] {
        LogTail::Lines lines = tail_->since(0, LogTail::lines_kept_max);
        return json_reply(LiveLines{std::move(lines.lines), lines.until, life_})
            .with("Cache-Control", "no-store");
      });
}

void Live::begin_looking() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(looks_left_, looks_after_last_reader) == 0) changed_.notify_one();
}

void Live::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (looks_left_ == 0) {
      changed_.wait(lock, [this] { return stopping_ || looks_left_ > 0; });
      // Figures of before the rest would be averages over it.
      last_ = {};
      rates_.clear();
      continue;
    }
    lock.unlock();
    look();
    const bool has_readers = topic_.statistics().subscribers > 0;
    lock.lock();
    looks_left_ = has_readers ? looks_after_last_reader : looks_left_ - 1;
    changed_.wait_for(lock, interval, [this] { return stopping_; });
  }
}

void Live::look() {
  Counts now;
  now.at_s = seconds_now();
  const LiveStatistics statistics = compare(last_, now);
  const bool first = last_.at_s == 0;
  last_ = std::move(now);
  // An event is refused only if it is too large: the next one comes in a second.
  if (!first) {
    (void)topic_.publish({.data = container::to_json(statistics), .name = "figures"});
  }
  LogTail::Lines lines = tail_->since(lines_told_, lines_told_max);
  if (lines.lines.empty()) return;
  lines_told_ = lines.until;
  const LiveLines told{std::move(lines.lines), lines.until, life_};
  (void)topic_.publish({.data = container::to_json(told), .name = "lines"});
}

LiveStatistics Live::compare(const Counts& before, Counts& now) {
  LiveStatistics statistics;
  const double seconds_between = std::max(now.at_s - before.at_s, 1e-3);
  add_reactors(statistics, before, now, seconds_between);
  add_latency(statistics, before, now);
  add_database(statistics, before, now, seconds_between);
  add_process(statistics, before, now, seconds_between);
  add_checks(statistics);
  const log::Counts log = log_.counts();
  now.log_records = log.records;
  statistics.log = {rate(before.log_records, log.records, seconds_between), log.dropped, log.lost,
                    log.waiting_bytes, log.fullest_ring};
  return statistics;
}

void Live::add_reactors(LiveStatistics& statistics, const Counts& before, Counts& now,
                        double seconds_between) {
  const auto reactors = observability_.ask_reactors();
  wait_for_answers(reactors);
  for (std::size_t index = 0; index < reactors.size(); ++index) {
    const server::ReactorStatistics each = reactors[index]->statistics();
    const double cpu_s = static_cast<double>(each.cpu_time.ns) / 1e9;
    now.reactors_cpu_s.push_back(cpu_s);
    now.requests += each.http.requests;
    const double cpu_s_before =
        index < before.reactors_cpu_s.size() ? before.reactors_cpu_s[index] : cpu_s;
    const double load = std::clamp((cpu_s - cpu_s_before) / seconds_between, 0.0, 1.0);
    statistics.reactors.push_back({load, each.links_open});
  }
  statistics.requests = now.requests;
  statistics.requests_per_s = rate(before.requests, now.requests, seconds_between);
  rates_.push_back(std::llround(statistics.requests_per_s));
  if (rates_.size() > rates_kept) rates_.pop_front();
  statistics.rates.assign(rates_.begin(), rates_.end());
}

void Live::add_latency(LiveStatistics& statistics, const Counts& before, Counts& now) const {
  // A stream of events lasts as long as its reader stays: that is no latency.
  now.latency = observability_.registry().sum_of("katana_http_route_duration_seconds", events_path);
  if (!now.latency) return;
  metrics::LogSnapshot latest = *now.latency;
  if (before.latency) latest -= *before.latency;
  if (latest.count == 0) return;
  const auto us = [&latest](double q) { return static_cast<double>(latest.quantile(q)) / 1e3; };
  statistics.latency = {us(0.5), us(0.9), us(0.99), us(0.999)};
}

void Live::add_database(LiveStatistics& statistics, const Counts& before, Counts& now,
                        double seconds_between) const {
  now.database = database_.statistics();
  const database::Statistics& of = now.database;
  const database::Statistics& was = before.database;
  if (const auto health = database_.health(); !health) {
    statistics.database.state = std::string(health.error().message());
  }
  statistics.database.reads_per_s =
      rate(was.reads_here + was.reads_pooled, of.reads_here + of.reads_pooled, seconds_between);
  statistics.database.writes_per_s = rate(was.writes, of.writes, seconds_between);
  statistics.database.commits_per_s = rate(was.commits, of.commits, seconds_between);
  statistics.database.writes_waiting = of.writes_waiting;
  statistics.database.reads_waiting = of.reads_waiting;
  statistics.database.readers = of.readers;
  statistics.database.readers_busy = of.readers_busy;
}

void Live::add_process(LiveStatistics& statistics, const Counts& before, Counts& now,
                       double seconds_between) const {
  const auto process = metrics::read_process();
  if (!process) return;
  now.cpu_s = process->cpu_seconds;
  statistics.process = {std::max(0.0, now.cpu_s - before.cpu_s) / seconds_between,
                        process->resident_bytes, process->open_fds, process->threads};
  const double unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  statistics.uptime_s = std::max(0.0, unix_s - process->start_time_seconds);
}

void Live::add_checks(LiveStatistics& statistics) const {
  metrics::HealthChecks& checks = observability_.checks();
  for (const auto kind : {metrics::CheckKind::readiness, metrics::CheckKind::liveness}) {
    checks.refresh(kind);
    for (const metrics::CheckReport& each : checks.report(kind).checks) {
      statistics.checks.push_back({each.name,
                                   kind == metrics::CheckKind::readiness ? "readiness" : "liveness",
                                   std::string(metrics::status_name(each.status)), each.detail});
    }
  }
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
