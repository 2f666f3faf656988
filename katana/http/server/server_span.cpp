#include "katana/http/server/server_span.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/http/session/client.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/observe/trace/baggage.hpp"
#include "katana/observe/trace/trace_parent.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::server {
namespace {

using trace::SpanRecord;

// The OpenTelemetry conventions use this name for a method that is not a known one.
constexpr Bytes other_method = "_OTHER";
constexpr Bytes name_of_other = "HTTP";

bool is_field(const http::Head& head, std::size_t index, Bytes name) noexcept {
  return head.name(index).size() == name.size() &&
         http::equals_ignoring_case(head.name(index), name);
}

template <class F>
void for_each_value(const http::Head& head, Bytes name, const F& f) {
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (is_field(head, index, name)) f(head.value(index));
  }
}

// Returns an invalid context if the head has none, a malformed one, or two (W3C Trace Context
// §3.2).
trace::SpanContext parent_in(trace::Tracer& tracer, const http::Head& head) noexcept {
  std::size_t count = 0;
  Bytes value;
  for_each_value(head, "traceparent", [&](Bytes each) {
    value = each;
    ++count;
  });
  if (count == 0) return {};
  const auto parsed = count == 1 ? trace::parse_trace_parent(value) : std::nullopt;
  if (parsed) return trace::remote_context(*parsed);
  tracer.count(trace::Ignored::trace_parent);
  return {};
}

void add_method(SpanRecord& span, Bytes method, Bytes route) noexcept {
  const bool known = http::method_from(method) != http::Method::extension;
  span.set_name(known ? method : name_of_other, route);
  span.add("http.request.method", known ? method : other_method);
  if (!known && !method.empty()) span.add("http.request.method_original", method);
}

void add_target(SpanRecord& span, const session::ExchangeRecord& record, const TargetRules& rules) {
  Text room;
  Bytes target = shown_target(record, rules, room);
  // Keeps the path of "http://host/path".
  if (const std::size_t scheme = target.find("://");
      !target.starts_with('/') && scheme != Bytes::npos) {
    target.remove_prefix(std::min(target.find('/', scheme + 3), target.size()));
  }
  const std::size_t query = target.find('?');
  span.add("url.path", target.substr(0, query));
  if (query != Bytes::npos) span.add("url.query", target.substr(query + 1));
}

void add_server(SpanRecord& span, const http::Head& head, const session::Client& client) noexcept {
  Bytes authority = session::authority_of(head);
  if (client.is_forwarded && !client.host.empty()) authority = client.host;
  const auto parts = http::split_authority(authority);
  if (!parts || parts->host.empty()) return;
  span.add("server.address", parts->host);
  const std::uint16_t usual = client.is_secure() ? 443 : 80;
  if (const std::uint16_t port = parts->port.value_or(usual); port != usual) {
    span.add("server.port", port);
  }
}

void add_client(SpanRecord& span, session::Exchange& exchange, const http::Head& head) {
  // Not exchange.client(): reading the address for a trace must not make the reply personal.
  const session::Client client = session::client_of(exchange.arrival(), head);
  span.add("url.scheme", client.is_secure() ? Bytes("https") : Bytes("http"));
  add_server(span, head, client);
  engine::PeerEndpoint endpoint = client.endpoint();
  if (endpoint.port != 0) span.add("client.port", endpoint.port);
  endpoint.port = 0;
  const engine::PeerAddress address = endpoint.text();
  span.add("client.address", address.bytes());
  if (const auto agent = head.find("User-Agent")) span.add("user_agent.original", *agent);
}

Bytes version_of(const session::ExchangeRecord& record) noexcept {
  if (record.is_http2) return "2";
  return record.head->minor_version() == 0 ? "1.0" : "1.1";
}

void fill(SpanRecord& span, session::Exchange& exchange, const session::ExchangeRecord& record,
          const TargetRules& rules) {
  span.kind = trace::SpanKind::server;
  const Bytes route = record.route != nullptr ? Bytes(record.route->pattern) : Bytes();
  add_method(span, record.method, route);
  if (!route.empty()) span.add("http.route", route);
  if (record.status != 0) span.add("http.response.status_code", record.status);
  if (record.status >= 500) {
    span.add("error.type", fmt::format_int(record.status).c_str());
  } else if (record.end == session::ExchangeEnd::aborted) {
    span.add("error.type", "aborted");
  }
  if (!record.target.empty()) add_target(span, record, rules);
  if (record.head == nullptr) return;
  span.add("network.protocol.version", version_of(record));
  add_client(span, exchange, *record.head);
}

}  // namespace

trace::RootRef begin_server_span(trace::Tracer& tracer, const http::Head* head) {
  const Instant now = tracer.now();
  const trace::TracerOptions& options = tracer.options();
  if (head == nullptr) return trace::Root::begin(tracer, {}, now);
  trace::Baggage baggage(options.baggage);
  if (!options.baggage.empty()) [[unlikely]] {
    for_each_value(*head, "baggage", [&](Bytes value) { baggage.add(value); });
    if (baggage.has_ignored()) tracer.count(trace::Ignored::baggage);
  }
  trace::RootOrigin origin{
      .parent = options.propagates ? parent_in(tracer, *head) : trace::SpanContext(),
      .state = {},
      .baggage = baggage.text()};
  trace::TraceState state;
  if (origin.parent.is_valid()) {
    for_each_value(*head, "tracestate", [&](Bytes value) { state.add(value); });
    if (state.is_malformed() || state.is_cut()) tracer.count(trace::Ignored::trace_state);
    origin.state = state.text();
  }
  return trace::Root::begin(tracer, origin, now);
}

bool end_server_span(trace::Root& root, session::Exchange& exchange,
                     const session::ExchangeRecord& record, const TargetRules& rules) noexcept {
  const bool failed = record.status >= 500 || record.end == session::ExchangeEnd::aborted;
  return root.end({.failed = failed, .may_be_slow = record.kind == session::ExchangeKind::request},
                  [&](SpanRecord& span) { fill(span, exchange, record, rules); });
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
