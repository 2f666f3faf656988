// Spans of OTLP, for export_request().
//
//   std::string spans;
//   otlp::append_span(spans, record, wall_offset);      // for each
//   const std::string request = otlp::export_request(resource, scope, spans);
//
// The fields are those of opentelemetry/proto/trace/v1/trace.proto 1.11, by their numbers.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     any.
// Allocates  as the text grows.
// Fails      never.
// Invariant  a span can be decoded, whatever texts its record has.
#pragma once

#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/observe/otlp/export_message.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::otlp {

// Appends a span. `wall_offset` converts the record's clock to nanoseconds since 1970.
void append_span(std::string& spans, const trace::SpanRecord& record, Duration wall_offset);

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
