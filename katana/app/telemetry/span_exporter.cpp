#include "katana/app/telemetry/span_exporter.hpp"

#include <utility>

#include "katana/base/coroutine/when.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {

SpanExporter::SpanExporter(trace::Tracer& tracer, client::HttpClient http,
                           SpanExporterOptions options, log::Logger logger)
    : tracer_(tracer),
      options_(std::move(options)),
      sender_(std::move(http), options_.sender, std::move(logger)) {}

Task<void> SpanExporter::run() { co_await when_all(collect_loop(), send_loop()); }

Task<void> SpanExporter::collect_loop() {
  while (!sender_.is_finishing()) {
    woken_.reset();
    collect();
    const bool is_idle = !woken_.is_set() && open_.count == 0 && full_.empty();
    if (is_idle) co_await rest();
    co_await net::sleep_for(collect_interval);
  }
}

// Until the next span, if the tracer can report it.
Task<void> SpanExporter::rest() {
  if (!tracer_.call_at_next_span()) co_return;
  collect();  // spans that ended before the tracer knew
  if (!sender_.is_finishing()) co_await woken_.wait();
}

Task<void> SpanExporter::send_loop() {
  for (;;) {
    if (is_due(tracer_.now())) {
      Batch batch = take_batch();
      const std::size_t count = batch.count;
      (void)co_await sender_.send(std::move(batch.spans), count);
      queued_.fetch_sub(count, std::memory_order_relaxed);
    } else if (sender_.is_finishing()) {
      co_return;
    } else {
      changed_.reset();
      co_await changed_.wait();
    }
  }
}

void SpanExporter::collect() {
  const Duration wall_offset = options_.wall_offset ? options_.wall_offset() : Duration{};
  const std::size_t count = tracer_.drain([&](const trace::SpanRecord& record) {
    if (queued() >= options_.queue_spans_max) return sender_.count(OtlpFate::queue_full, 1);
    if (open_.count == 0) open_.first = tracer_.now();
    otlp::append_span(open_.spans, record, wall_offset);
    queued_.fetch_add(1, std::memory_order_relaxed);
    if (++open_.count == options_.batch_spans_max) full_.push_back(std::exchange(open_, {}));
  });
  if (count > 0) woken_.set();
  if (is_due(tracer_.now())) changed_.set();
}

void SpanExporter::finish() {
  collect();
  sender_.finish();
  woken_.set();
  changed_.set();
}

bool SpanExporter::is_due(Instant now) const noexcept {
  if (!full_.empty()) return true;
  return open_.count > 0 && (sender_.is_finishing() || now - open_.first >= options_.interval);
}

SpanExporter::Batch SpanExporter::take_batch() noexcept {
  if (full_.empty()) return std::exchange(open_, {});
  Batch batch = std::move(full_.front());
  full_.pop_front();
  return batch;
}

void SpanExporter::drop_rest() noexcept {
  full_.clear();
  open_ = {};
  sender_.count(OtlpFate::shutdown, queued_.exchange(0, std::memory_order_relaxed));
  sender_.count(OtlpFate::shutdown, tracer_.drain([](const trace::SpanRecord&) {}));
  sender_.note_lost();
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
