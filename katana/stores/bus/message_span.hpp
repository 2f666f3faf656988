// Spans of messages: of their publication, and of the work of a subscriber on them. The context of
// the trace travels in the headers traceparent, tracestate and baggage of the message.
//
// Handlers of Bus::subscribe() have such a span. A reader of messages makes one: MessageSpan
// (messages.hpp). The names of these spans are not stable: they are those of the conventions for
// messaging of OpenTelemetry, which are under development. They are recorded only with
// TracerOptions::experimental.
//
//   publish orders.*     PRODUCER, below the span that is current; without one nothing is recorded
//   process orders.>     CONSUMER, below the publication, and linked to it. A message without a
//                        context begins a trace
//
// Owns       its spans; a PublishSpan the texts of the headers that it adds.
// Borrows    the Publication, or the Delivery, for its life.
// Thread     a PublishSpan any; a HandlerSpan its reactor's.
// Allocates  from the recycler, and only when it records.
// Fails      never: a malformed context is ignored and counted; headers without room are left out.
// Invariant  a header that the publisher set itself stays as it is.
#pragma once

#include <array>

#include "katana/observe/trace/root_span.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/observe/trace/trace_parent.hpp"
#include "katana/observe/trace/trace_state.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::bus {

// Whether a publication to this subject has a span: subjects with '$' are those of the server.
inline bool records_publication(Bytes subject) noexcept {
  const trace::CurrentSpan* const current = trace::current_span();
  if (current == nullptr) [[likely]]
    return false;
  return current->root->tracer().options().experimental && !subject.starts_with('$');
}

// The span of a publication, until end().
class PublishSpan {
 public:
  // `system`: of the attribute messaging.system. `room`: bytes that the headers may grow by.
  PublishSpan(Bytes system, const Publication& given, std::size_t room) noexcept;

  // The given one with the context in its headers.
  const Publication& publication() const noexcept { return publication_; }
  void end(const Result<Published>& done) noexcept;

 private:
  static constexpr std::size_t headers_max = 16;  // with those of the context

  void add_context(std::size_t room) noexcept;

  trace::Span span_;
  Publication publication_;
  std::array<Header, headers_max> headers_;
  std::array<char, trace::trace_parent_bytes> parent_;
};

// Publishes by f(const Publication&), within a span if there is one to be.
template <class F>
Result<Published> publish_within_span(Bytes system, const Publication& publication,
                                      std::size_t room, const F& f) {
  if (!records_publication(publication.subject)) [[likely]]
    return f(publication);
  PublishSpan span(system, publication, room);
  Result<Published> done = f(span.publication());
  span.end(done);
  return done;
}

// The span of the work on a message, until the end of the block.
class [[nodiscard]] HandlerSpan {
 public:
  // `pattern` and `group` are those of the subscription. Without a tracer it does nothing.
  HandlerSpan(trace::Tracer* tracer, Bytes system, Bytes pattern, Bytes group,
              const Delivery& message) noexcept;
  ~HandlerSpan();
  HandlerSpan(const HandlerSpan&) = delete;
  HandlerSpan& operator=(const HandlerSpan&) = delete;

  // The work on the message failed; `error_type` is a word such as "exception".
  void fail(Bytes error_type) noexcept { error_type_ = error_type; }

 private:
  void add_attributes(trace::SpanRecord& record) const noexcept;

  const Bytes system_, pattern_, group_;
  const Delivery& message_;
  Bytes error_type_ = {};
  const trace::SpanContext producer_;
  trace::TraceState state_;  // written before span_ is made
  trace::RootSpan span_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
