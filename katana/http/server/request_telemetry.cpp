#include "katana/http/server/request_telemetry.hpp"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "katana/base/values/timestamp.hpp"
#include "katana/http/server/requests_in_flight.hpp"
#include "katana/http/server/server_span.hpp"
#include "katana/http/server/slowest_requests.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/observe/log/context.hpp"
#include "katana/observe/trace/trace_parent.hpp"

namespace katana::server {
namespace {

constexpr Bytes id_field = "X-Request-Id: ";
constexpr std::array<Bytes, 6> status_names = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

std::uint64_t random_seed() noexcept {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) == sizeof seed) return seed;
  // Without random numbers: the address of a thread's variable differs at least between threads.
  static thread_local char own;
  return reinterpret_cast<std::uintptr_t>(&own);
}

RequestIds& ids_of_thread() noexcept {
  static thread_local RequestIds ids(random_seed());
  return ids;
}

// The values in the request, before the decision to accept them. Two fields of one name count as
// none.
struct Given {
  Bytes id;
  Bytes trace_parent;
};
Given given_in(const http::Head& head) noexcept {
  Given given;
  int ids = 0, parents = 0;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    const Bytes name = head.name(index);
    if (name.size() == 12 && http::equals_ignoring_case(name, "x-request-id")) {
      given.id = ++ids == 1 ? head.value(index) : Bytes();
    } else if (name.size() == 11 && http::equals_ignoring_case(name, "traceparent")) {
      given.trace_parent = ++parents == 1 ? head.value(index) : Bytes();
    }
  }
  return given;
}

// By the clock that the reactor has read: a read of the system's would cost a call.
RequestInFlight in_flight(const Activity& activity, session::ClientSource& source) noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  return {activity, reactor != nullptr ? reactor->now() : Instant{}, &source, reactor};
}

// The id of a request, and the fields of its records.
class NamedContext : public session::ExchangeContext {
 public:
  NamedContext(Bytes given, session::ClientSource& source) noexcept
      : in_flight_(in_flight(*this, source)) {
    std::memcpy(line_.data(), id_field.data(), id_field.size());
    char* const id = line_.data() + id_field.size();
    if (is_request_id(given)) {
      id_size_ = given.size();
      std::memcpy(id, given.data(), id_size_);
    } else {
      ids_of_thread().next(std::span<char, request_id_bytes>(id, request_id_bytes));
    }
    std::memcpy(id + id_size_, "\r\n", 2);
    reply_fields = {line_.data(), id_field.size() + id_size_ + 2};
    fields_.add(log::field("request_id", this->id()));
    log_context = &fields_;
    name = this->id();
  }
  Bytes id() const noexcept { return {line_.data() + id_field.size(), id_size_}; }

 protected:
  std::array<char, id_field.size() + request_id_bytes_max + 2> line_;
  std::size_t id_size_ = request_id_bytes;
  std::array<char, 32> trace_;
  log::Context fields_;

 private:
  const RequestInFlight in_flight_;  // last: it goes before the rest
};

class RequestContext final : public NamedContext {
 public:
  RequestContext(const Given& given, session::ClientSource& source) noexcept
      : NamedContext(given.id, source) {
    if (const auto parsed = trace::parse_trace_parent(given.trace_parent)) {
      fields_.add(log::field("trace_id", parsed->trace));
      std::memcpy(trace_.data(), parsed->trace.data(), trace_.size());
      trace = {trace_.data(), trace_.size()};
      fields_.add(log::field("parent_id", parsed->parent));
    }
  }
};

// The context of a request with a span, recorded or not: calls to other servers may pass its trace
// on.
class TracedContext final : public NamedContext {
 public:
  TracedContext(Bytes id, bool is_named, trace::RootRef root,
                session::ClientSource& source) noexcept
      : NamedContext(id, source), root_(std::move(root)) {
    if (!is_named) {
      fields_.clear();
      reply_fields = {};
    }
    trace_ = root_->context().trace.hex();
    trace = {trace_.data(), trace_.size()};
    fields_.add(log::field("trace_id", trace));
    add_id("span_id", root_->context().span);
    if (root_->parent().is_valid()) add_id("parent_id", root_->parent().span);
    span = &root_->current();
  }

 private:
  void add_id(log::FieldName key, trace::SpanId id) noexcept {
    const auto digits = id.hex();
    fields_.add(log::field(key, Bytes(digits.data(), digits.size())));
  }

  const trace::RootRef root_;
};

std::size_t class_of(unsigned status) noexcept {
  const unsigned hundreds = status / 100;
  return hundreds < status_names.size() ? hundreds : 0;
}

std::vector<std::uint64_t> counts_of(const std::vector<Duration>& durations) {
  std::vector<std::uint64_t> counts;
  for (const Duration each : durations) {
    counts.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(each.ns, 1)));
  }
  return counts;
}

}  // namespace

RequestTelemetry::RequestTelemetry(const RequestTelemetryOptions& options)
    : options_(options),
      access_(options.access, options.targets),
      slow_after_ns_(options.slow_after.ns) {}

Result<void> RequestTelemetry::prepare(const Service& service) {
  if (options_.metrics == nullptr) return {};
  const std::size_t series_max = (service.route_count() + 1) * status_classes;
  auto requests = options_.metrics->counters({.name = "katana_http_route_requests",
                                              .help = "Requests by route and class of status.",
                                              .labels = {"method", "route", "status"},
                                              .series_max = series_max});
  if (!requests) return std::unexpected(requests.error());
  auto durations = options_.metrics->log_histograms(
      {.name = "katana_http_route_duration_seconds",
       .help = "From the end of a request's head to the end of its exchange, by route.",
       .labels = {"method", "route"},
       .unit = "seconds",
       .series_max = series_max,
       .exemplars = options_.tracer != nullptr && options_.tracer->options().exemplars},
      {metrics::LogBuckets(3, 600'000'000'000), 1e9, counts_of(options_.duration_buckets)});
  if (!durations) return std::unexpected(durations.error());
  if (auto prepared = prepare_events(); !prepared) return prepared;
  if (options_.standard != StandardMetricUse::off) {
    auto prepared = standard_.prepare(*options_.metrics, service.route_count(),
                                      options_.standard == StandardMetricUse::exposed);
    if (!prepared) return prepared;
  }
  const auto add = [&](Bytes method, Bytes route) {
    Series& series = series_.emplace_back();
    for (std::size_t status = 0; status < status_classes; ++status) {
      series.requests[status] = requests->with(method, route, status_names[status]);
    }
    series.duration = durations->with(method, route);
  };
  for (std::uint32_t index = 0; index < service.route_count(); ++index) {
    const session::RouteMark& mark = service.mark(index);
    add(mark.method == "ANY" ? Bytes("_any") : Bytes(mark.method), mark.pattern);
  }
  add("_any", "_unmatched");
  return {};
}

// Long-lived exchanges have a separate series, in buckets from a second to an hour.
Result<void> RequestTelemetry::prepare_events() {
  const auto durations = [this](const char* name, const char* help) {
    return options_.metrics->log_histogram(
        name, help,
        {metrics::LogBuckets(0, 86'400'000'000'000),
         1e9,
         {1'000'000'000, 60'000'000'000, 600'000'000'000, 3'600'000'000'000}});
  };
  auto open =
      options_.metrics->gauge("katana_http_events_open", "Open streams of server-sent events.");
  if (!open) return std::unexpected(open.error());
  auto events = durations("katana_http_events_duration_seconds",
                          "Duration of completed streams of server-sent events.");
  if (!events) return std::unexpected(events.error());
  auto websockets = durations("katana_websocket_duration_seconds",
                              "Duration of completed WebSocket connections.");
  if (!websockets) return std::unexpected(websockets.error());
  events_open_ = *open;
  events_duration_ = *events;
  websocket_duration_ = *websockets;
  return {};
}

std::unique_ptr<session::ExchangeContext> RequestTelemetry::on_exchange_begin(
    const http::Head* head, session::ClientSource& from) noexcept {
  if (options_.tracer != nullptr) [[unlikely]]
    return begin_traced(accepts_ids(from) ? head : nullptr, from);
  if (!options_.ids) return nullptr;
  const bool is_accepted = head != nullptr && accepts_ids(from);
  return std::make_unique<RequestContext>(is_accepted ? given_in(*head) : Given(), from);
}

std::unique_ptr<session::ExchangeContext> RequestTelemetry::begin_traced(
    const http::Head* accepted, session::ClientSource& from) {
  const Bytes id = accepted != nullptr && options_.ids ? given_in(*accepted).id : Bytes();
  return std::make_unique<TracedContext>(id, options_.ids,
                                         begin_server_span(*options_.tracer, accepted), from);
}

bool RequestTelemetry::accepts_ids(session::ClientSource& from) const noexcept {
  switch (options_.trust_ids) {
    case RequestIdTrust::automatic: {
      const session::Arrival arrival = from.arrival();
      return arrival.trust == nullptr || arrival.from_proxy();
    }
    case RequestIdTrust::always: return true;
    case RequestIdTrust::proxies: return from.arrival().from_proxy();
    case RequestIdTrust::never: break;
  }
  return false;
}

void RequestTelemetry::on_exchange_end(session::Exchange& exchange,
                                       const session::ExchangeRecord& record) noexcept {
  if (!series_.empty()) count(record);
  if (options_.slowest != nullptr) options_.slowest->on_end(record);
  if (standard_.is_on() && record.kind == session::ExchangeKind::request) {
    standard_.observe(exchange, record);
  }
  access_.on_exchange_end(exchange, record);
  if (options_.tracer != nullptr) [[unlikely]] {
    if (const trace::CurrentSpan* const span = trace::current_span()) {
      const bool is_kept = end_server_span(*span->root, exchange, record, options_.targets);
      if (is_kept) note_exemplar(record, span->root->context());
    }
  }
  const std::int64_t slow_after_ns = slow_after_ns_.load(std::memory_order_relaxed);
  if (slow_after_ns > 0 && record.duration.ns > slow_after_ns &&
      record.kind == session::ExchangeKind::request) [[unlikely]] {
    warn_of(record);
  }
}

void RequestTelemetry::on_events_begin(session::Exchange&) noexcept {
  if (!series_.empty()) events_open_.add(1);
}

void RequestTelemetry::on_websocket_end(Duration duration) noexcept {
  if (!series_.empty()) websocket_duration_.observe(duration);
}

const RequestTelemetry::Series& RequestTelemetry::series_of(
    const session::ExchangeRecord& record) const noexcept {
  const std::size_t unmatched = series_.size() - 1;
  return series_[record.route != nullptr ? std::min<std::size_t>(record.route->number, unmatched)
                                         : unmatched];
}

// The trace of a request, for the bucket of its duration.
void RequestTelemetry::note_exemplar(const session::ExchangeRecord& record,
                                     const trace::SpanContext& context) const noexcept {
  if (series_.empty() || record.kind != session::ExchangeKind::request) return;
  const std::chrono::nanoseconds at = current_time().time_since_epoch();
  series_of(record).duration.note_exemplar(record.duration, {.trace_high = context.trace.high,
                                                             .trace_low = context.trace.low,
                                                             .span = context.span.value,
                                                             .at_ns = at.count()});
}

void RequestTelemetry::count(const session::ExchangeRecord& record) const noexcept {
  const Series& series = series_of(record);
  series.requests[class_of(record.status)].add();
  if (record.kind == session::ExchangeKind::request) [[likely]] {
    series.duration.observe(record.duration);
  } else if (record.kind == session::ExchangeKind::events) {
    events_open_.add(-1);
    events_duration_.observe(record.duration);
  }
}

void RequestTelemetry::warn_of(const session::ExchangeRecord& record) const noexcept {
  const Bytes route = record.route != nullptr ? Bytes(record.route->pattern) : Bytes("-");
  const std::int64_t duration_us = record.duration.ns / 1'000;
  const std::int64_t slow_after_us = slow_after_ns_.load(std::memory_order_relaxed) / 1'000;
  Text room;
  const Bytes target = shown_target(record, options_.targets, room);
  options_.slow.warn("slow: {} {}", record.method, target, log::field("route", route),
                     log::field("status", record.status), log::field("duration_us", duration_us),
                     log::field("slow_after_us", slow_after_us));
}

Bytes current_request_id() noexcept {
  return current_activity != nullptr ? current_activity->name : Bytes();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
