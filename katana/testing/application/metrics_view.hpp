// MetricsView: the metrics of a program, as values.
//
//   app.metrics().value("katana_http_requests_total", {{"status", "200"}})     // Result<double>
//   app.metrics().histogram("katana_http_route_duration_seconds")->count
//
// Owns       nothing: each call reads the registry as a scrape does.
// Borrows    the registry, and the objects that refresh it.
// Thread     the test's.
// Allocates  for each call.
// Fails      an unknown name is an Error that lists similar names. Labels that no series has are an
//            Error that lists the existing labels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::testing {

// Names and values of labels, in any order.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// A histogram's observations so far.
struct MetricHistogram {
  std::uint64_t count = 0;  // number of observations
  double sum = 0;           // of all observations, in the unit of the metric
};

class MetricsView {
 public:
  // `refresh` runs before each reading.
  MetricsView(metrics::Registry& registry, std::function<void()> refresh)
      : registry_(&registry), refresh_(std::move(refresh)) {}

  // The value of a counter or gauge with its name in /metrics; the sum, if several series have
  // these labels.
  Result<double> value(std::string_view name, const MetricLabels& labels = {}) const;
  Result<MetricHistogram> histogram(std::string_view name, const MetricLabels& labels = {}) const;
  // The text of /metrics.
  std::string text() const;

 private:
  metrics::Registry* registry_;
  std::function<void()> refresh_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
