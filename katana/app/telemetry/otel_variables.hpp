// OTEL variables: the settings of telemetry in the environment, by the names of OpenTelemetry.
//
//   OTEL_SDK_DISABLED                       enabled
//   OTEL_SERVICE_NAME                       service_name
//   OTEL_RESOURCE_ATTRIBUTES                resource; service.name in it, too
//   OTEL_EXPORTER_OTLP_ENDPOINT             endpoint
//   OTEL_EXPORTER_OTLP_HEADERS              headers, added to those of the settings
//   OTEL_EXPORTER_OTLP_TIMEOUT              timeout, in milliseconds
//   OTEL_EXPORTER_OTLP_COMPRESSION          compression
//   OTEL_TRACES_SAMPLER, …_ARG              sampler, ratio
//   OTEL_BSP_SCHEDULE_DELAY                 interval, in milliseconds
//   OTEL_BSP_MAX_QUEUE_SIZE                 queue_spans_max
//   OTEL_BSP_MAX_EXPORT_BATCH_SIZE          batch_spans_max
//   OTEL_METRIC_EXPORT_INTERVAL             metrics.interval, in milliseconds
//   OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE            metrics.temporality
//   OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION     metrics.histograms
//   OTEL_BLRP_SCHEDULE_DELAY                logs.interval, in milliseconds
//   OTEL_BLRP_MAX_QUEUE_SIZE                logs.queue_records_max
//   OTEL_BLRP_MAX_EXPORT_BATCH_SIZE         logs.batch_records_max
//   OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_LOGS_EXPORTER
//                                           "none": the signal is off
//
// OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS}_… goes before OTEL_EXPORTER_OTLP_…; its endpoint is
// taken as it is. A variable goes before the setting. An empty one is none. Proxies are those
// of proxy_variables.hpp.
//
// Owns       nothing.
// Borrows    the function for the call.
// Thread     that of the start.
// Allocates  its result.
// Fails      never: a wrong value is noted, and the setting stays.
#pragma once

#include <string>
#include <vector>

#include "katana/app/telemetry/proxy_variables.hpp"
#include "katana/app/telemetry/telemetry_settings.hpp"

namespace katana::app {

// Where the exports of one signal go, and how.
struct SignalTarget {
  std::string url;                   // whole
  std::vector<std::string> headers;  // "name=value"
  Duration timeout;                  // of one attempt
  TelemetryCompression compression;  // of the body
};

// Settings, as the environment wants them.
struct EffectiveTelemetry {
  TelemetrySettings settings;              // the given ones, with the changes of the variables
  SignalTarget traces = {};                // of spans
  SignalTarget metrics = {};               // for the metrics of the registry
  SignalTarget logs = {};                  // of log records
  client::ProxyOptions plain_proxy = {};   // for a collector at http://
  client::ProxyOptions secure_proxy = {};  // for one at https://
  std::vector<std::string> notes = {};     // values that are wrong, each with the remedy
};

// `variables` is asked by name.
EffectiveTelemetry with_otel_variables(const TelemetrySettings& settings,
                                       const Variables& variables);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
