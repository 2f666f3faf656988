// ClientSpan: what a trace has of one attempt of a request: a span, and the fields traceparent and
// tracestate that the server gets.
//
//   ClientSpan span(outgoing, fields_size, done.retries);
//   co_await attempt(…);
//   span.end(call);
//
// Names and attributes are the stable ones of OpenTelemetry's conventions for HTTP. The URL is
// shown as in errors, without what is secret.
//
// Owns       its span.
// Borrows    the Outgoing for the call of the constructor.
// Thread     its reactor's.
// Allocates  as the fields of the request grow.
// Fails      never.
// Invariant  a request has the fields of one trace at most, also when it is sent again; fields that
//            the caller has set stay.
#pragma once

#include <cstdint>

#include "katana/http/client/call.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/observe/trace/span.hpp"

namespace katana::client {

class ClientSpan {
 public:
  // `fields_size`: of the fields without those of an attempt before; they are cut to it.
  // `resends`: how often it was sent already.
  ClientSpan(Outgoing& outgoing, std::size_t fields_size, std::uint32_t resends, bool propagates);
  // The attempt has ended. Without it the caller has left, and the span ends with this object.
  void end(Call& call) noexcept;

 private:
  trace::Span span_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
