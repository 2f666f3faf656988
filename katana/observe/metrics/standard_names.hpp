// StandardMetric: a metric of OpenTelemetry's semantic conventions 1.45 that KATANA has. One table
// for all outputs: OTLP sends the names of the table, /metrics the same by the rules of Prometheus.
//
//   http.server.request.duration   http_server_request_duration_seconds
//   http.request.method            http_request_method
//
// The registry has these metrics by the names of Prometheus. A label without a value stands for an
// attribute that is absent: OTLP leaves it out, and for Prometheus it is none.
//
// Owns       constants.
// Thread     any.
// Allocates  the texts of description_of() and prometheus_name().
// Fails      never.
// Invariant  the table has only names that the semantic conventions call stable.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "katana/observe/metrics/family.hpp"

namespace katana::metrics {

// One attribute of a standard metric.
struct StandardLabel {
  std::string_view name;    // "http.response.status_code"
  bool is_integer = false;  // OTLP sends it as a number
};

// A histogram of durations in seconds.
struct StandardMetric {
  std::string_view name;                  // "http.server.request.duration"
  std::string_view help;                  // one sentence
  std::span<const StandardLabel> labels;  // of a series
};

// Labels: http.request.method, url.scheme, http.route, http.response.status_code,
// network.protocol.version, error.type.
const StandardMetric& http_server_request_duration() noexcept;
// Labels: http.request.method, server.address, server.port, http.response.status_code,
// network.protocol.version, error.type.
const StandardMetric& http_client_request_duration() noexcept;
// Labels: db.system.name, db.query.summary, error.type.
const StandardMetric& db_client_operation_duration() noexcept;

// The whole table.
std::span<const StandardMetric> standard_metrics() noexcept;
// The metric of which this is the name in the registry; null: none.
const StandardMetric* find_standard(std::string_view registry_name) noexcept;

// Dots become underscores.
std::string prometheus_label(std::string_view attribute);
// The same, with the unit.
std::string prometheus_name(const StandardMetric& metric);
// For Registry::log_histograms(). `is_exposed`: false: exporters alone have it.
Description description_of(const StandardMetric& metric, bool is_exposed);
// With the bounds that the conventions advise, from 5 ms to 10 s.
LogShape standard_shape();

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
