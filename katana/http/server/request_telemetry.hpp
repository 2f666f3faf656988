// RequestTelemetry: the id, record, counts and durations of each request of an HTTP server, and a
// warning for a slow one.
//
//   X-Request-Id   accepted if well formed (http/server/request_id.hpp), otherwise made; in every
//                  reply
//   traceparent    its trace and parent are used if it is valid (W3C Trace Context). With a tracer
//                  a trace begins where there is none, and each request is a span
//                  (http/server/server_span.hpp)
//
// RequestTelemetryOptions::trust_ids selects the clients from which they are accepted. A client
// that names its requests can make two of them look like one in a log. It can also join the trace
// of another client.
//
// Every record that is made while the request is handled has the fields request_id, trace_id and
// parent_id, with a tracer also span_id. This includes records after a co_await, and records of any
// code. The access log has them, too (its other fields: http/server/access_log.hpp). Metrics are by
// route, as it was registered, never by path:
//
//   katana_http_route_requests_total{method,route,status}       status: 1xx … 5xx, or "none"
//   katana_http_route_duration_seconds{method,route}, with a tracer with exemplars
//   http_server_request_duration_seconds, as http/server/standard_durations.hpp says
//
// Streams of events and WebSocket connections count as requests, but not in durations and slow
// requests. Streams of events have separate metrics:
//
//   katana_http_events_open                open streams
//   katana_http_events_duration_seconds    of ended streams
//   katana_websocket_duration_seconds      of ended connections; the reactors count connections and
//                                          messages
//
// Requests without a route are one series, {method="_any",route="_unmatched"}.
//
// Owns       the series.
// Borrows    the Log behind the loggers, the metrics' registry and the tracer; all outlive the
//            server.
// Thread     any: reactors share it, and each writes its own memory.
// Allocates  a context for each exchange, from the recycler.
// Fails      prepare() names the metric that could not be registered.
// Invariant  ids, records and metrics that are off cost nothing.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/access_log.hpp"
#include "katana/http/server/request_id.hpp"
#include "katana/http/server/standard_durations.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::trace {
struct SpanContext;
class Tracer;
}  // namespace katana::trace

namespace katana::server {

// The use of the metrics with OpenTelemetry's names (observe/metrics/standard_names.hpp).
enum class StandardMetricUse : std::uint8_t {
  off,       // there are none
  exported,  // exporters alone have them
  exposed,   // /metrics has them, too
};

// The records of each request, and their destinations.
struct RequestTelemetryOptions {
  bool ids = true;                                       // and traces
  RequestIdTrust trust_ids = RequestIdTrust::automatic;  // clients with accepted ids
  log::Logger access = {};                               // discards: no access log
  log::Logger slow = {};                 // for requests that took slow_after; default: discards
  Duration slow_after = {};              // 0: nothing is slow
  TargetRules targets = {};              // for both logs
  metrics::Registry* metrics = nullptr;  // null: none
  // Whether there is also http.server.request.duration of OpenTelemetry, and for whom.
  StandardMetricUse standard = StandardMetricUse::off;
  trace::Tracer* tracer = nullptr;           // null: no spans
  class SlowestRequests* slowest = nullptr;  // null: they are not kept
  // Upper ends of the buckets of durations in a scrape; each is exact to an eighth.
  std::vector<Duration> duration_buckets = default_duration_buckets();

  // 100 µs to 30 s, in 15 steps.
  static std::vector<Duration> default_duration_buckets() {
    return {microseconds(100),   microseconds(250), microseconds(500), milliseconds(1),
            microseconds(2'500), milliseconds(5),   milliseconds(10),  milliseconds(25),
            milliseconds(50),    milliseconds(100), milliseconds(250), milliseconds(500),
            seconds(1),          seconds(5),        seconds(30)};
  }
};

class RequestTelemetry final : public session::ExchangeObserver {
 public:
  explicit RequestTelemetry(const RequestTelemetryOptions& options);

  // Makes the series of every route. Before the server starts.
  Result<void> prepare(const Service& service);
  // From any thread.
  void set_slow_after(Duration duration) noexcept {
    slow_after_ns_.store(duration.ns, std::memory_order_relaxed);
  }

  std::unique_ptr<session::ExchangeContext> on_exchange_begin(
      const http::Head* head, session::ClientSource& from) noexcept override;
  void on_events_begin(session::Exchange& exchange) noexcept override;
  void on_websocket_end(Duration duration) noexcept override;
  void on_exchange_end(session::Exchange& exchange,
                       const session::ExchangeRecord& record) noexcept override;

 private:
  static constexpr std::size_t status_classes = 6;  // none, 1xx … 5xx
  struct Series {
    std::array<metrics::Counter, status_classes> requests;
    metrics::LogHistogram duration;
  };

  KATANA_RARE std::unique_ptr<session::ExchangeContext> begin_traced(const http::Head* accepted,
                                                                     session::ClientSource& from);
  const Series& series_of(const session::ExchangeRecord& record) const noexcept;
  KATANA_RARE void note_exemplar(const session::ExchangeRecord& record,
                                 const trace::SpanContext& context) const noexcept;
  void count(const session::ExchangeRecord& record) const noexcept;
  Result<void> prepare_events();
  bool accepts_ids(session::ClientSource& from) const noexcept;
  void warn_of(const session::ExchangeRecord& record) const noexcept;

  const RequestTelemetryOptions options_;
  AccessLog access_;
  std::atomic<std::int64_t> slow_after_ns_;
  metrics::Gauge events_open_;
  metrics::LogHistogram events_duration_, websocket_duration_;
  StandardDurations standard_;
  std::vector<Series> series_;  // by route; the last is for requests without a route
};

// The id of the request that this thread is serving; empty when there is none, or it has no id. For
// code that calls other servers for the request. Borrowed until the handler's next suspension.
Bytes current_request_id() noexcept;

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
