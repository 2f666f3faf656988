// StatementTelemetry: observes the statements of a program's database. It logs a warning for each
// slow one, and counts statements and durations by name. It adds a span where the request is
// traced, and calls the program's own hook.
//
//   katana_database_statements_total{statement,outcome}      outcome: "ok", or the error's kind
//   katana_database_statement_duration_seconds{statement}
//   katana_database_statement_rows_total{statement}          read, or else changed
//
//   warn  slow statement: SELECT users  statement="SELECT id, name FROM users WHERE id = $1"
//         database=postgresql outcome=ok rows=1 duration_us=204113 slow_after_us=200000
//         request_id=… trace_id=…
//
// The record has the fields of the request that the statement was for, as any record has. Names are
// those of stores/database/statement_name.hpp: 1,024 statements, and "other".
//
// Owns       the series, and the names.
// Borrows    the Log behind the logger, and the metrics' registry; both outlive the database.
// Thread     any.
// Allocates  for a statement that was not seen before, and for a call that fails.
// Fails      prepare() says which metric could not be registered.
// Invariant  at most records_max records of slow statements in a period; the next one says how many
//            were left out. No record has the value of a parameter.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/statement_observer.hpp"

namespace katana::app {

// The hook of a program, such as for spans: called with each statement that is over. It runs on the
// thread that awaited the statement, which is a reactor's for requests, and must not block. Its
// arguments are borrowed for the call.
using OnStatement = std::function<void(const database::StatementReport&)>;

// The outputs of StatementTelemetry.
struct StatementTelemetryOptions {
  log::Logger slow = {};                 // discards
  Duration slow_after = {};              // 0: nothing is slow
  metrics::Registry* metrics = nullptr;  // null: none
  // Whether there is also db.client.operation.duration of OpenTelemetry, and for whom.
  server::StandardMetricUse standard = server::StandardMetricUse::off;
  OnStatement on_statement = {};        // null: none
  std::function<Instant()> clock = {};  // null: the machine's monotonic one
};

class StatementTelemetry final : public database::StatementObserver {
 public:
  static constexpr std::uint32_t records_max = 20;         // of slow statements, in a period
  static constexpr Duration period = seconds(10);          // of records_max
  static constexpr std::size_t text_bytes_max = 2000;      // of a statement, in a record
  static constexpr std::size_t span_text_bytes_max = 768;  // and in a span

  explicit StatementTelemetry(StatementTelemetryOptions options);
  ~StatementTelemetry();

  // Registers the metrics. Before the first report.
  Result<void> prepare();
  // From any thread.
  void set_slow_after(Duration duration) noexcept {
    slow_after_ns_.store(duration.ns, std::memory_order_relaxed);
  }

  Instant now() const noexcept override;
  void on_statement(const database::StatementReport& report) noexcept override;

 private:
  struct Families {
    metrics::Family<metrics::Counter> statements;
    metrics::Family<metrics::LogHistogram> durations;
    metrics::Family<metrics::Counter> rows;
    std::optional<metrics::Family<metrics::LogHistogram>> standard;
  };
  struct Series {
    metrics::Counter succeeded;
    metrics::LogHistogram duration;
    metrics::Counter rows;
    metrics::LogHistogram standard;  // of statements that succeeded
  };

  void count(const database::StatementReport& report);
  metrics::LogHistogram standard_of(const database::StatementReport& report, Bytes error) const;
  const Series& series_of(const database::StatementReport& report);
  void warn_of(const database::StatementReport& report, std::int64_t slow_after_ns);
  void call_hook(const database::StatementReport& report) noexcept;
  static void record(const database::StatementReport& report) noexcept;

  const StatementTelemetryOptions options_;
  std::atomic<std::int64_t> slow_after_ns_;
  std::unique_ptr<log::RateLimit> limit_;
  std::optional<Families> families_;
  std::vector<std::atomic<const Series*>> series_;  // by the number of the name
  std::mutex mutex_;                                // of the members below
  std::vector<std::unique_ptr<const Series>> made_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
