// MetricsEncoder: the content of a metrics::Registry in the form of OTLP.
//
//   counter, observed counter   Sum, monotonic; whole numbers of a counter are integers
//   gauge                       Gauge
//   histogram                   Histogram with its bounds
//   log histogram               ExponentialHistogram, or Histogram with the bounds of /metrics
//
// The fields are those of opentelemetry/proto/metrics/v1/metrics.proto 1.11, by their numbers.
// Exemplars of log histograms are sent until a collection with them was accepted.
// Names are those of the registry, without "_total"; of standard metrics (standard_names.hpp) those
// of OpenTelemetry. Units are UCUM's ("s", "By").
//
//   MetricsEncoder encoder({.started_ns = …});
//   for (MetricsMessage& each : encoder.collect(registry, now_ns)) {
//     if (… sent …) encoder.commit(each);
//   }
//
// Owns       with delta, the committed figures of each series.
// Borrows    the registry for the call; it is the same at each call.
// Thread     one at a time.
// Allocates  its messages.
// Fails      never.
// Invariant  with delta, the committed figures add up to the registry's counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/observe/metrics/standard_names.hpp"

namespace katana::otlp {

// The events that a point counts (AggregationTemporality). Gauges have none.
enum class Temporality : std::uint8_t {
  cumulative,  // everything since the start
  delta,       // events since the previous collection
  low_memory,  // delta for counters and histograms, cumulative for observed counters
};
// How log histograms are sent.
enum class HistogramForm : std::uint8_t { exponential, explicit_bounds };

// The form of all messages of an encoder.
struct MetricsEncoderOptions {
  Temporality temporality = Temporality::cumulative;      // of counters and histograms
  HistogramForm histograms = HistogramForm::exponential;  // of log histograms
  std::uint64_t started_ns = 0;                           // of the program, since 1970
  std::size_t message_bytes_max = 1024 * 1024;  // a message ends with the series that exceeds it
};

// Metrics of one export.
struct MetricsMessage {
  std::string metrics;       // items for export_request()
  std::size_t points = 0;    // in this message
  std::uint32_t number = 0;  // in its collection, from 0
};

class MetricsEncoder {
 public:
  // The most buckets of a point of an exponential histogram; its scale falls until they suffice.
  static constexpr std::size_t exponential_buckets_max = 160;

  explicit MetricsEncoder(const MetricsEncoderOptions& options) : options_(options) {}

  // All present figures of the registry, as of its last refresh(). `now_ns`: since 1970. With
  // delta, series without a change are left out.
  std::vector<MetricsMessage> collect(metrics::Registry& registry, std::uint64_t now_ns);
  // Reports that a message of the last collect() was accepted: with delta, the next one counts from
  // there.
  void commit(const MetricsMessage& message);

 private:
  // The figures of a series: a counter's count; a histogram's sum and buckets.
  struct Figures {
    double sum = 0;
    std::vector<std::uint64_t> counts;
  };
  struct Series {
    Figures committed;
    Figures collected;
    std::uint64_t committed_ns = 0;  // 0: never
    std::uint32_t message = 0;       // that holds the collected figures
  };
  class Message;

  void collect_family(metrics::detail::FamilyState& family, std::vector<Series>& known,
                      Message& message);
  void read(const metrics::detail::FamilyState& family, std::size_t series);
  bool subtract(Series& known);
  void add_point(const metrics::detail::FamilyState& family, std::size_t series,
                 const Series* known, Message& message) const;
  bool is_delta(metrics::Kind kind) const noexcept;

  const MetricsEncoderOptions options_;
  std::vector<std::vector<Series>> known_;  // by family and series; empty without delta
  std::uint64_t collected_ns_ = 0;
  std::uint64_t exemplars_from_ns_ = 0;                // older ones were in an accepted collection
  Figures now_;                                        // of the series that is being encoded
  const metrics::StandardMetric* standard_ = nullptr;  // and its family; null: it is not one
};

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
