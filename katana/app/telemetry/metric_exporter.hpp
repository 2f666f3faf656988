// MetricExporter: sends the metrics of a registry to a collector, once in an interval.
//
//   interval ─► refresh, encode ─► one export at a time ─► sent, or dropped with its points
//
// With delta temporality nothing is lost by a failed export: the next one covers its time, too.
//
// Owns       the encoded points that are not sent yet.
// Borrows    the registry.
// Thread     that of its reactor; counts any.
// Allocates  the encoded points.
// Fails      never: points that are not sent are counted by their reason.
// Invariant  no export begins before the one before it has ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/app/telemetry/signal_exporter.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/observe/otlp/metrics.hpp"

namespace katana::app {

// How often metrics are sent, and in which form.
struct MetricExporterOptions {
  OtlpSenderOptions sender = {};                // of the signal
  otlp::MetricsEncoderOptions encoder = {};     // the form of messages
  Duration interval = seconds(60);              // between two exports
  std::function<std::uint64_t()> wall_ns = {};  // since 1970
};

class MetricExporter final : public SignalExporter {
 public:
  MetricExporter(metrics::Registry& registry, client::HttpClient http,
                 MetricExporterOptions options, log::Logger logger);

  Task<void> run() override;
  // Exports soon, for the last time before the end.
  void drain() override;
  void finish() override;
  void drop_rest() noexcept override;
  const OtlpSender& sender() const noexcept override { return sender_; }

 private:
  static Instant now() noexcept;  // of the reactor
  Task<void> export_now();
  Task<void> wait_until(Instant due);

  metrics::Registry& registry_;
  const MetricExporterOptions options_;
  OtlpSender sender_;
  otlp::MetricsEncoder encoder_;
  AsyncEvent changed_;
  std::size_t unsent_ = 0;  // points that were encoded, and have no fate yet
  enum class Drain : std::uint8_t { none, wanted, done } drain_ = Drain::none;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
