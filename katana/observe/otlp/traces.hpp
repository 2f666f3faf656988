// Traces of OTLP: spans as ExportTraceServiceRequest has them, and what a collector replies.
//
//   std::string spans;
//   otlp::append_span(spans, record, wall_offset);      // for each
//   const std::string request = otlp::traces_request(resource, scope, spans);
//
// The fields are those of opentelemetry/proto/trace/v1/trace.proto 1.11, by their numbers.
//
// Owns       nothing but the texts of a Scope.
// Borrows    its arguments for the call.
// Thread     any.
// Allocates  what it returns.
// Fails      read_reply() gives nothing for what is no such reply.
// Invariant  whatever texts a record has, the request can be decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/otlp/resource.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::otlp {

// The version of the semantic conventions that attributes have.
inline constexpr Bytes schema_url = "https://opentelemetry.io/schemas/1.45.0";

// Who has recorded.
struct Scope {
  std::string name = {};     // of the library
  std::string version = {};  // its version; empty: not said
};

// Appends a span. `wall_offset`: from the record's clock to nanoseconds since 1970.
void append_span(std::string& spans, const trace::SpanRecord& record, Duration wall_offset);
// The whole message, of spans that append_span() has written.
std::string traces_request(const Resource& resource, const Scope& scope, Bytes spans);

// What a collector says beside its status.
struct ExportReply {
  std::int64_t rejected = 0;  // spans that it has not taken
  std::string message;        // why, or a warning
};
// Of a reply of 2xx; empty content is a success.
std::optional<ExportReply> read_reply(Bytes content);

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
