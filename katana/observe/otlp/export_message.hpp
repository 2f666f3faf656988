// Export messages of OTLP: the envelope that traces, metrics and logs share, and the reply of a
// collector.
//
//   const std::string request = otlp::export_request(resource, scope, items);
//
// Export{Trace,Metrics,Logs}ServiceRequest have the same fields (opentelemetry/proto 1.11):
// `1 resource {1 resource, 2 scope {1 scope, 2 items, 3 schema}, 3 schema}`.
//
// Owns       nothing but the texts of a Scope.
// Borrows    its arguments for the call.
// Thread     any.
// Allocates  its results.
// Fails      read_reply() returns nothing for bytes that are not such a reply.
// Invariant  a request can be decoded, whatever texts it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/protobuf.hpp"
#include "katana/observe/otlp/resource.hpp"

namespace katana::otlp {

// The version of the semantic conventions that attributes have.
inline constexpr Bytes schema_url = "https://opentelemetry.io/schemas/1.45.0";

// The library that recorded the items.
struct Scope {
  std::string name = {};     // of the library
  std::string version = {};  // its version; empty: not sent
};

// The whole message. `items` are spans, metrics or log records, each as field 2.
std::string export_request(const Resource& resource, const Scope& scope, Bytes items);

// Writes an attribute of text (KeyValue) as field `number`.
void add_text_attribute(ProtobufWriter& out, std::uint32_t number, Bytes key, Bytes value);

// The body of a collector's reply.
struct ExportReply {
  std::int64_t rejected = 0;  // items that it has refused
  std::string message;        // the reason, or a warning
};
// Reads the body of a 2xx reply; an empty body is a success.
std::optional<ExportReply> read_reply(Bytes content);

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
