#include "katana/app/telemetry/telemetry_settings.hpp"

#include "katana/app/option_tables.hpp"

namespace katana::app {

KATANA_DESCRIBE(
    TelemetryMetricsSettings, (enabled, help("false: /metrics alone has the metrics")),
    (interval, option_rules::timeout, help("between two exports")),
    (temporality, help("what a counter or a histogram counts: everything, or what is new")),
    (histograms,
     help("of durations: exponential, or explicit_bounds with the buckets of /metrics")),
    (exemplars, help("durations of requests refer to a recorded trace of each bucket")))

KATANA_DESCRIBE(TelemetryLogsSettings,
                (enabled, help("false: the outputs of `log` alone have the records")),
                (level, length(1, 5),
                 help("the lowest that is sent: trace, debug, info, warn, error or fatal")),
                (interval, option_rules::timeout,
                 help("a record is sent after so long, or with a full batch")),
                (batch_records_max, range(1, 65'536), help("records of one export")),
                (queue_records_max, range(1, 1 << 22), help("records that wait for the collector")))

KATANA_DESCRIBE(
    TelemetrySettings, (enabled, help("false: nothing is recorded, and no collector is asked")),
    (traces, help("false: no span is recorded")), (metrics, help("what is sent of them")),
    (logs, help("which records are sent")),
    (endpoint, length(1, 2000),
     help("of a collector that takes OTLP over HTTP; /v1/traces and the like are added to it")),
    (headers, length(0, 64), each(length(1, 8000)), secret,
     help("name=value of header fields that the collector wants, such as a key")),
    (timeout, option_rules::timeout, help("of one export")),
    (compression, help("of what is sent; auto: gzip, and none for a collector on this machine")),
    (tls, help("of https://…")),
    (sampler, length(1, 100),
     help("always_on, always_off or traceidratio; behind parentbased_ it follows the caller")),
    (ratio, range(0.0, 1.0), help("of the traces that begin here, for traceidratio")),
    (keep_slow, option_rules::timeout_or_none,
     help("requests that take longer are kept though they were not sampled; 0: none are")),
    (keep_failed, help("requests that fail are kept though they were not sampled")),
    (trace_context, help("traceparent and tracestate of others are read, and sent to others")),
    (baggage, length(0, 16), each(length(1, 100)),
     help("keys of the field baggage that are read, sent to others, and attributes of requests")),
    (experimental, help("also spans of messages and of jobs of pools, whose names may change")),
    (service_name, length(0, 255), help("service.name; empty: the name of the program")),
    (resource, length(0, 8000), help("more of the resource: key=value,…, in percent-encoding")),
    (process_context,
     help("show the resource to profilers of this machine, in /proc/PID/maps (OTEP 4719)")),
    (interval, option_rules::timeout, help("a span is sent after so long, or with a full batch")),
    (batch_spans_max, range(1, 65'536), help("spans of one export")),
    (queue_spans_max, range(1, 1 << 22), help("spans that wait for the collector")),
    (thread_spans_max, range(16, 65'536),
     help("spans of one thread that are not encoded yet, of 2 KiB each; more are dropped")),
    (flush_timeout, option_rules::timeout_or_none,
     help("the end of the program waits so long for the last exports")))

}  // namespace katana::app

KATANA_CONFIG_DEFINE_GROUP(katana::app::TelemetrySettings)

// SPDX-License-Identifier: Apache-2.0
