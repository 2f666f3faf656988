// History: the last quarter of an hour of a program, for its operations page: a column for each ten
// seconds.
//
//   History history(observability, database, slowest);
//   history.tick(current_time());             // every History::interval
//   HistoryDocument document = history.document();
//
// Owns       columns_max columns, and the counts at the last tick.
// Borrows    the observability, the database and the slowest requests, which outlive it.
// Thread     any. tick() waits for the figures of reactors, so it runs on no reactor.
// Allocates  tick() and document().
// Fails      never: a reactor that does not answer has its last figures.
// Invariant  it reads counters that exist anyway: requests pay nothing for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/slowest_requests.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

// The work between two ticks.
struct HistoryColumn {
  std::int64_t at_ms = 0;                        // its end, since 1970
  std::int64_t span_ms = 0;                      // its length
  std::vector<std::int64_t> statuses = {};       // requests without a status, 1xx, … 5xx
  std::vector<std::int64_t> busy_permille = {};  // of a CPU, by reactor
  std::int64_t stalls = 0;                       // turns of reactors that took too long
  std::int64_t resident_bytes = 0;               // at its end
  std::int64_t database_reads = 0;               // statements
  std::int64_t database_writes = 0;              // statements
};
KATANA_DESCRIBE(HistoryColumn, at_ms, span_ms, statuses, busy_permille, stalls, resident_bytes,
                database_reads, database_writes)

// Durations of the requests of a route.
struct HistoryRoute {
  std::string route = {};                // "GET /users/{id}"
  std::vector<std::int64_t> cells = {};  // column, bucket, count; and so on. Others have no request
};
KATANA_DESCRIBE(HistoryRoute, route, cells)

// A request that was slow.
struct SlowEntry {
  std::string method = {};       // as the client sent it
  std::string route = {};        // empty: none matched
  std::int64_t status = 0;       // 0: no reply was begun
  std::int64_t duration_ms = 0;  // from the end of its head
  std::int64_t at_ms = 0;        // its end, since 1970
  std::string request_id = {};   // of its log records
  std::string trace_id = {};     // empty: it has no trace
};
KATANA_DESCRIBE(SlowEntry, method, route, status, duration_ms, at_ms, request_id, trace_id)

// The answer of /operations/history.
struct HistoryDocument {
  std::int64_t interval_s = 0;               // between two columns
  std::int64_t columns_max = 0;              // that are kept
  std::vector<std::int64_t> bounds_us = {};  // upper ends of the buckets; the last has none
  bool has_database = false;                 // the program has one
  std::vector<HistoryColumn> columns = {};   // the oldest first
  std::vector<HistoryRoute> routes = {};     // that had requests
  std::vector<SlowEntry> slowest = {};       // requests, the slowest first
};
KATANA_DESCRIBE(HistoryDocument, interval_s, columns_max, bounds_us, has_database, columns, routes,
                slowest)

class History {
 public:
  static constexpr Duration interval = seconds(10);  // between two ticks
  static constexpr std::size_t columns_max = 90;     // a quarter of an hour
  static constexpr std::size_t ticks_in_window = 6;  // of the slowest requests
  // Upper ends of the buckets of durations, in microseconds.
  static constexpr std::array<std::int64_t, 11> bounds_us = {
      1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000, 1'000'000, 5'000'000};
  static constexpr std::size_t buckets = bounds_us.size() + 1;
  static constexpr std::size_t statuses = 6;  // none, 1xx to 5xx

  // `database`: null without one.
  History(server::Observability& observability, database::Database* database,
          server::SlowestRequests& slowest) noexcept
      : observability_(observability), database_(database), slowest_(slowest) {}

  // Ends a column. The first call only begins one.
  void tick(Timestamp now);
  HistoryDocument document() const;

 private:
  using Buckets = std::array<std::uint64_t, buckets>;
  // Counts since the start.
  struct Counts {
    std::int64_t at_ms = 0;
    std::array<std::uint64_t, statuses> requests{};
    std::vector<std::int64_t> busy_ns;  // by reactor
    std::uint64_t stalls = 0;
    std::uint64_t reads = 0, writes = 0;
    std::map<std::string, Buckets> durations;  // by route
  };
  struct Cell {
    std::string route;
    std::size_t bucket;
    std::int64_t count;
  };
  struct Column {
    HistoryColumn figures;
    std::vector<Cell> cells;
  };

  Counts count(Timestamp now) const;
  void count_requests(Counts& counts) const;
  static Column compare(const Counts& before, const Counts& now);

  server::Observability& observability_;
  database::Database* const database_;
  server::SlowestRequests& slowest_;
  mutable std::mutex mutex_;  // of the members below
  bool has_begun_ = false;
  std::size_t ticks_ = 0;
  Counts last_;
  std::deque<Column> columns_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
