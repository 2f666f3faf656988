// SpanExporter: takes the spans of a tracer, and sends them to a collector.
//
//   collect ─► batches, at most queue_spans_max spans ─► one export at a time ─► sent, or dropped
//
// Owns       the encoded spans that are not sent yet.
// Borrows    the tracer.
// Thread     that of its reactor; counts any.
// Allocates  the encoded spans.
// Fails      never: spans that are not sent are counted by their reason.
// Invariant  of the spans that were drained each is sent, rejected, dropped or queued.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

#include "katana/app/telemetry/signal_exporter.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/otlp/traces.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {

// How often and how much is sent.
struct SpanExporterOptions {
  OtlpSenderOptions sender = {};       // of the signal
  Duration interval = seconds(5);      // a span waits so long for a full batch
  std::size_t batch_spans_max = 512;   // of one export
  std::size_t queue_spans_max = 8192;  // spans that wait or are being sent
  // From the tracer's clock to nanoseconds since 1970.
  std::function<Duration()> wall_offset = {};
};

class SpanExporter final : public SignalExporter {
 public:
  // Between two drains while spans come. After one without spans the next span wakes the exporter.
  static constexpr Duration collect_interval = milliseconds(250);

  SpanExporter(trace::Tracer& tracer, client::HttpClient http, SpanExporterOptions options,
               log::Logger logger);

  Task<void> run() override;
  // Takes the spans that the tracer has now.
  void collect() override;
  void finish() override;
  void drop_rest() noexcept override;
  const OtlpSender& sender() const noexcept override { return sender_; }
  // Spans that wait, with those that are being sent.
  std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

 private:
  struct Batch {
    std::string spans;
    std::size_t count = 0;
    Instant first = {};
  };

  Task<void> collect_loop();
  Task<void> rest();
  Task<void> send_loop();
  bool is_due(Instant now) const noexcept;
  Batch take_batch() noexcept;

  trace::Tracer& tracer_;
  const SpanExporterOptions options_;
  OtlpSender sender_;
  std::deque<Batch> full_;
  Batch open_;
  AsyncEvent changed_;
  AsyncEvent woken_;                    // spans have come, or the end
  std::atomic<std::size_t> queued_{0};  // with the spans that are being sent
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
