// Live: the figures of the dashboard, once a second, as server-sent events.
//
//   figures   rates, latency, reactors, database, log, process, health
//   lines     the latest lines of the log
//
// Owns       a thread that looks at everything once a second, and the topic of its events.
// Borrows    the observed objects, all of which outlive it.
// Thread     add_to() one.
// Allocates  once a second.
// Fails      never: a figure that cannot be read keeps its last value.
// Invariant  it asks and never waits: it does not slow down requests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fullstack/log_tail.hpp"
#include "katana/base.hpp"
#include "katana/database.hpp"
#include "katana/http.hpp"
#include "katana/log.hpp"
#include "katana/metrics.hpp"

namespace katana::fullstack {

struct LatencyStatistics {
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
};
KATANA_DESCRIBE(LatencyStatistics, p50_us, p90_us, p99_us, p999_us)

struct ReactorLoad {
  double load = 0;  // share of a CPU
  std::uint32_t connections = 0;
};
KATANA_DESCRIBE(ReactorLoad, load, connections)

struct DatabaseLoad {
  std::string state;  // empty: usable
  double reads_per_s = 0;
  double writes_per_s = 0;
  double commits_per_s = 0;
  std::uint32_t writes_waiting = 0;
  std::uint32_t reads_waiting = 0;
  std::uint32_t readers = 0;
  std::uint32_t readers_busy = 0;
};
KATANA_DESCRIBE(DatabaseLoad, state, reads_per_s, writes_per_s, commits_per_s, writes_waiting,
                reads_waiting, readers, readers_busy)

struct LogLoad {
  double records_per_s = 0;
  std::uint64_t dropped = 0;
  std::uint64_t lost = 0;
  std::uint64_t waiting_bytes = 0;
  double fullest_ring = 0;
};
KATANA_DESCRIBE(LogLoad, records_per_s, dropped, lost, waiting_bytes, fullest_ring)

struct ProcessLoad {
  double processors = 0;
  double resident_bytes = 0;
  double open_files = 0;
  double threads = 0;
};
KATANA_DESCRIBE(ProcessLoad, processors, resident_bytes, open_files, threads)

struct CheckState {
  std::string name;
  std::string kind;
  std::string status;
  std::string detail;
};
KATANA_DESCRIBE(CheckState, name, kind, status, detail)

struct LiveStatistics {
  double uptime_s = 0;
  std::uint64_t requests = 0;
  double requests_per_s = 0;
  std::vector<std::int64_t> rates;           // by second, the present one last
  std::optional<LatencyStatistics> latency;  // in the last second; none without a request
  std::vector<ReactorLoad> reactors;
  DatabaseLoad database;
  LogLoad log;
  ProcessLoad process;
  std::vector<CheckState> checks;
};
KATANA_DESCRIBE(LiveStatistics, uptime_s, requests, requests_per_s, rates, latency, reactors,
                database, log, process, checks)

struct LiveLines {
  std::vector<std::string> lines;
  std::uint64_t until = 0;  // the number of the last one
  std::int64_t life = 0;    // identifies the run: numbers begin anew with each
};
KATANA_DESCRIBE(LiveLines, lines, until, life)

class Live {
 public:
  Live(database::Database& database, log::Log& log, server::Observability& observability,
       std::shared_ptr<const LogTail> tail);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Adds GET /dashboard/events, and /dashboard/lines: the lines that there are already.
  void add_to(Group routes);

 private:
  // The thread looks once a second while clients read the events, and for ten seconds after the
  // last one. It then sleeps until begin_looking().
  void begin_looking();
  // The counts at one moment, from which rates are computed.
  struct Counts {
    double at_s = 0;
    std::uint64_t requests = 0;
    std::vector<double> reactors_cpu_s;
    database::Statistics database;
    std::uint64_t log_records = 0;
    double cpu_s = 0;
    std::optional<metrics::LogSnapshot> latency;
  };

  void watch();
  void look();
  LiveStatistics compare(const Counts& before, Counts& now);
  void add_reactors(LiveStatistics& statistics, const Counts& before, Counts& now,
                    double seconds_between);
  void add_database(LiveStatistics& statistics, const Counts& before, Counts& now,
                    double seconds_between) const;
  void add_process(LiveStatistics& statistics, const Counts& before, Counts& now,
                   double seconds_between) const;
  void add_latency(LiveStatistics& statistics, const Counts& before, Counts& now) const;
  void add_checks(LiveStatistics& statistics) const;

  database::Database& database_;
  log::Log& log_;
  server::Observability& observability_;
  const std::shared_ptr<const LogTail> tail_;
  EventTopic topic_;
  const std::int64_t life_;
  Counts last_;
  std::deque<std::int64_t> rates_;
  std::uint64_t lines_told_ = 0;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool stopping_ = false;
  int looks_left_ = 0;  // unless there are readers then
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
