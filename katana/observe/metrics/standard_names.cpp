#include "katana/observe/metrics/standard_names.hpp"

#include <algorithm>
#include <array>

namespace katana::metrics {
namespace {

constexpr std::array<StandardLabel, 6> server_labels = {{{"http.request.method"},
                                                         {"url.scheme"},
                                                         {"http.route"},
                                                         {"http.response.status_code", true},
                                                         {"network.protocol.version"},
                                                         {"error.type"}}};
constexpr std::array<StandardLabel, 6> client_labels = {{{"http.request.method"},
                                                         {"server.address"},
                                                         {"server.port", true},
                                                         {"http.response.status_code", true},
                                                         {"network.protocol.version"},
                                                         {"error.type"}}};
constexpr std::array<StandardLabel, 3> database_labels = {
    {{"db.system.name"}, {"db.query.summary"}, {"error.type"}}};

constexpr std::array<StandardMetric, 3> table = {
    {{"http.server.request.duration", "Duration of HTTP server requests.", server_labels},
     {"http.client.request.duration", "Duration of HTTP client requests.", client_labels},
     {"db.client.operation.duration", "Duration of database client operations.", database_labels}}};

constexpr std::string_view unit = "seconds";

bool has_name(const StandardMetric& metric, std::string_view registry_name) noexcept {
  const std::size_t size = metric.name.size();
  if (registry_name.size() != size + 1 + unit.size() || registry_name[size] != '_' ||
      !registry_name.ends_with(unit)) {
    return false;
  }
  return std::ranges::equal(
      metric.name, registry_name.substr(0, size),
      [](char dotted, char plain) { return plain == (dotted == '.' ? '_' : dotted); });
}

}  // namespace

const StandardMetric& http_server_request_duration() noexcept { return table[0]; }
const StandardMetric& http_client_request_duration() noexcept { return table[1]; }
const StandardMetric& db_client_operation_duration() noexcept { return table[2]; }

std::span<const StandardMetric> standard_metrics() noexcept { return table; }

const StandardMetric* find_standard(std::string_view registry_name) noexcept {
  const auto found = std::ranges::find_if(
      table, [&](const StandardMetric& each) { return has_name(each, registry_name); });
  return found != table.end() ? &*found : nullptr;
}

std::string prometheus_label(std::string_view attribute) {
  std::string label(attribute);
  std::ranges::replace(label, '.', '_');
  return label;
}

std::string prometheus_name(const StandardMetric& metric) {
  return prometheus_label(metric.name).append("_").append(unit);
}

Description description_of(const StandardMetric& metric, bool is_exposed) {
  Description description{.name = prometheus_name(metric),
                          .help = std::string(metric.help),
                          .unit = std::string(unit),
                          .is_exposed = is_exposed};
  for (const StandardLabel& each : metric.labels) {
    description.labels.push_back(prometheus_label(each.name));
  }
  return description;
}

LogShape standard_shape() {
  constexpr std::uint64_t ms_ns = 1'000'000;
  LogShape shape{LogBuckets(3, 600'000'000'000), 1e9, {}};
  for (const std::uint64_t ms :
       {5, 10, 25, 50, 75, 100, 250, 500, 750, 1'000, 2'500, 5'000, 7'500, 10'000}) {
    shape.told.push_back(ms * ms_ns);
  }
  return shape;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
