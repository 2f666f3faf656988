// Telemetry settings: which traces are recorded, which metrics and log records are sent, and the
// collector that gets them.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; the part's check() reports settings that contradict one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/net/tls/client_options.hpp"

namespace katana::app {

// Compression of exports.
enum class TelemetryCompression : std::uint8_t {
  automatic,  // gzip, but not for a collector on this machine: there it costs more than it saves
  none,       // as it is
  gzip,       // level 1
};
KATANA_DESCRIBE_ENUM(TelemetryCompression, (automatic, "auto"), none, gzip)

// Events that a point of a counter or a histogram counts.
enum class TelemetryTemporality : std::uint8_t {
  cumulative,  // everything since the start
  delta,       // the change since the export before
  lowmemory,   // delta, but cumulative for counters that are read from elsewhere
};
KATANA_DESCRIBE_ENUM(TelemetryTemporality, cumulative, delta, lowmemory)

// How the histograms of durations are sent.
enum class TelemetryHistograms : std::uint8_t {
  exponential,      // with the precision that they are counted with
  explicit_bounds,  // with the buckets of /metrics
};
KATANA_DESCRIBE_ENUM(TelemetryHistograms, exponential, explicit_bounds)

// `telemetry.metrics`.
struct TelemetryMetricsSettings {
  bool enabled = true;              // false: /metrics alone has them
  Duration interval = seconds(60);  // between two exports
  TelemetryTemporality temporality = TelemetryTemporality::cumulative;  // of counts
  TelemetryHistograms histograms = TelemetryHistograms::exponential;    // of durations
  bool exemplars = true;  // durations of requests refer to recorded traces
};

// `telemetry.logs`.
struct TelemetryLogsSettings {
  bool enabled = true;                     // false: the outputs of `log` alone have them
  std::string level = "info";              // the lowest that is sent
  Duration interval = seconds(1);          // a record waits so long for a full batch
  std::uint32_t batch_records_max = 512;   // of one export
  std::uint32_t queue_records_max = 8192;  // that wait for the collector
};

// `telemetry`. Variables OTEL_… go before it: see otel_variables.hpp.
struct TelemetrySettings {
  bool enabled = true;
  bool traces = true;                              // false: no span is recorded
  TelemetryMetricsSettings metrics = {};           // sent beside /metrics
  TelemetryLogsSettings logs = {};                 // sent beside the outputs of `log`
  std::string endpoint = "http://localhost:4318";  // /v1/traces, /v1/metrics and /v1/logs are added
  std::vector<std::string> headers = {};           // "name=value"; not shown
  Duration timeout = seconds(10);
  TelemetryCompression compression = TelemetryCompression::automatic;
  tls::ClientTlsOptions tls = {};
  std::string sampler = "parentbased_traceidratio";
  double ratio = 1;
  Duration keep_slow = {};
  bool keep_failed = false;
  bool trace_context = true;              // traceparent and tracestate are read and sent
  std::vector<std::string> baggage = {};  // keys of W3C Baggage that are read and sent
  bool experimental = false;              // spans whose names may change: of messages and pools
  std::string service_name = {};          // empty: the program's
  std::string resource = {};              // "key=value,…"
  bool process_context = true;            // the resource is shown to profilers of the machine
  Duration interval = seconds(5);
  std::uint32_t batch_spans_max = 512;
  std::uint32_t queue_spans_max = 8192;
  std::uint32_t thread_spans_max = 1024;
  Duration flush_timeout = seconds(5);
};

}  // namespace katana::app

KATANA_CONFIG_DECLARE_GROUP(katana::app::TelemetrySettings)

// SPDX-License-Identifier: Apache-2.0
