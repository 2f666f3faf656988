// SpanExporter: takes the spans of a tracer, and sends them to a collector by OTLP over HTTP.
//
//   collect ─► batches, at most queue_spans_max spans ─► one export at a time ─► sent, or dropped
//
// An export that the collector cannot take now (429, 502, 503, 504, or no reply) is repeated with a
// growing random pause, and not before the Retry-After of the reply, for at most retry_time_max.
// What it refuses is not repeated, nor what it has taken in part (OTLP 1.11).
//
// Owns       what is encoded and not sent.
// Borrows    the tracer.
// Thread     run(), wake() and finish() that of its reactor; counts() any.
// Allocates  what is encoded.
// Fails      never: what is not sent is counted by its reason, and the log has one record when
//            exports fail and one when they go on.
// Invariant  of the spans that were drained each is sent, rejected, dropped or queued.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/otlp/traces.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {

// Where, how often and how much is sent.
struct SpanExporterOptions {
  std::string url = {};                                           // whole, with /v1/traces
  std::vector<std::pair<std::string, std::string>> headers = {};  // name and value
  Duration timeout = seconds(10);                                 // of one attempt
  Duration interval = seconds(5);      // a span waits so long for a full batch
  bool gzip = true;                    // false: as it is
  std::size_t batch_spans_max = 512;   // of one export
  std::size_t queue_spans_max = 8192;  // that wait, with those that are being sent
  otlp::Resource resource = {};        // of every export
  otlp::Scope scope = {};              // likewise
  // From the tracer's clock to nanoseconds since 1970.
  std::function<Duration()> wall_offset = {};
  std::uint64_t seed = 1;  // of the pauses
};

// What became of spans that were drained.
enum class SpanFate : std::uint8_t {
  sent,        // and taken
  rejected,    // of an export that was taken in part
  refused,     // the collector will not take the export, whenever it is repeated
  failed,      // it could not take it for retry_time_max
  queue_full,  // queue_spans_max were waiting
  shutdown,    // the program has ended before
  count,
};
// "sent", "queue_full": the label of a metric.
const char* fate_name(SpanFate fate) noexcept;

class SpanExporter {
 public:
  static constexpr Duration collect_interval = milliseconds(250);  // between two drains
  static constexpr Duration backoff_min = seconds(1);              // the first pause, at most
  static constexpr Duration backoff_max = seconds(30);             // the longest
  static constexpr Duration retry_time_max = seconds(120);         // of one export

  SpanExporter(trace::Tracer& tracer, client::HttpClient http, SpanExporterOptions options,
               log::Logger logger);

  // Until finish(), and what there was then is sent or dropped.
  Task<void> run();
  // Takes what the tracer has now.
  void collect();
  // No export is repeated from here on.
  void finish();
  // Counts what is left as dropped. run() has ended, or its task is destroyed.
  void drop_rest() noexcept;

  // Spans that have come to this end.
  std::uint64_t counted(SpanFate fate) const noexcept {
    return fates_[static_cast<std::size_t>(fate)].load(std::memory_order_relaxed);
  }
  // Attempts that the collector has taken, or not.
  std::uint64_t exports(bool succeeded) const noexcept {
    return (succeeded ? exported_ : failed_).load(std::memory_order_relaxed);
  }
  // Spans that wait, with those that are being sent.
  std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

 private:
  struct Batch {
    std::string spans;
    std::size_t count = 0;
    Instant first = {};
  };
  // How an attempt ended.
  struct Attempt {
    enum class Kind : std::uint8_t { taken, refused, later } kind = Kind::taken;
    Duration pause = {};  // that the collector wants
    std::uint64_t rejected = 0;
    std::string why = {};
  };

  Task<void> collect_loop();
  Task<void> send_loop();
  Task<void> send(Batch batch);
  Task<Attempt> attempt(std::string content);
  Attempt judge(const Result<client::Response>& reply) const;
  Task<void> pause(Duration duration);
  std::string content_of(const Batch& batch) const;
  bool is_due(Instant now) const noexcept;
  Batch take_batch() noexcept;
  void note_fate(std::size_t spans, SpanFate fate) noexcept;
  void count(SpanFate fate, std::uint64_t spans) noexcept;
  void note_failure(const std::string& why, bool again);
  void note_success();

  trace::Tracer& tracer_;
  const client::HttpClient http_;
  const SpanExporterOptions options_;
  const log::Logger logger_;
  Random random_;
  std::deque<Batch> full_;
  Batch open_;
  AsyncEvent changed_;
  bool is_finishing_ = false;
  bool is_failing_ = false;
  std::atomic<std::size_t> queued_{0};  // with what is being sent
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(SpanFate::count)> fates_{};
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
