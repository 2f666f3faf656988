// ClientSpan: the span of one attempt of a request, and the fields traceparent, tracestate and
// baggage for the server.
//
//   ClientSpan span(outgoing, fields_size, done.retries);
//   co_await attempt(…);
//   span.end(call);
//
// Names and attributes are the stable ones of OpenTelemetry's conventions for HTTP. The URL is
// shown as in errors, without secrets.
//
// Owns       its span.
// Borrows    the Outgoing for the call of the constructor.
// Thread     its reactor's.
// Allocates  as the fields of the request grow.
// Fails      never.
// Invariant  a request has the fields of at most one trace, also when it is sent again. Fields that
//            the caller has set stay.
#pragma once

#include <cstdint>

#include "katana/http/client/call.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/observe/trace/span.hpp"

namespace katana::client {

class ClientSpan {
 public:
  // `fields_size`: the bytes of the fields without those of an earlier attempt; they are cut to it.
  // `resends`: the number of earlier attempts.
  ClientSpan(Outgoing& outgoing, std::size_t fields_size, std::uint32_t resends, bool propagates);
  // The attempt has ended. If the caller has left before, the span ends with this object.
  void end(Call& call) noexcept;

 private:
  trace::Span span_;
};

// Calls options.on_attempt with what has become of the attempt, if there is such a function.
void report_attempt(const HttpClientOptions& options, const Outgoing& outgoing, Call& call,
                    Duration duration) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
