// Server spans: one span for each request, from its head to the end of its exchange.
//
//   trace::RootRef root = begin_server_span(tracer, head);
//   end_server_span(*root, exchange, record, rules);     // ExchangeObserver::on_exchange_end()
//
// Names and attributes are the stable ones of OpenTelemetry's conventions for HTTP. Targets are
// shown as in the access log: secret values are hidden (http/server/shown_target.hpp). An error is
// a status of 500 or above, or a reply that broke off.
//
// Borrows    its arguments for the call.
// Thread     the reactor's.
// Allocates  from the recycler; once more for a target with a secret.
// Fails      never: a malformed trace is ignored, and counted.
// Invariant  a trace from an untrusted client is not continued (head is null).
#pragma once

#include "katana/http/server/shown_target.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::server {

// `head`: the source of traceparent, tracestate and baggage; null: they are not accepted.
trace::RootRef begin_server_span(trace::Tracer& tracer, const http::Head* head);
// Returns whether the span is recorded.
bool end_server_span(trace::Root& root, session::Exchange& exchange,
                     const session::ExchangeRecord& record, const TargetRules& rules) noexcept;

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
