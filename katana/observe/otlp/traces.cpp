#include "katana/observe/otlp/traces.hpp"

#include <algorithm>

#include "katana/observe/otlp/protobuf.hpp"

namespace katana::otlp {
namespace {

// Flags of a span (SpanFlags): whether its parent is of another process is known.
constexpr std::uint32_t has_is_remote = 0x100;
constexpr std::uint32_t is_remote = 0x200;

void add_text(ProtobufWriter& out, std::uint32_t field, Bytes key, Bytes value) {
  const std::size_t attribute = out.begin(field);
  out.string(1, key);
  const std::size_t any = out.begin(2);
  out.string(1, value, true);
  out.end(any);
  out.end(attribute);
}

void add_attribute(ProtobufWriter& out, const trace::SpanRecord& record,
                   const trace::SpanRecord::Attribute& attribute) {
  using Type = trace::SpanRecord::Type;
  const Bytes key(attribute.key, attribute.key_size);
  if (attribute.type == Type::text) return add_text(out, 9, key, record.text(attribute.text));
  const std::size_t whole = out.begin(9);
  out.string(1, key);
  const std::size_t any = out.begin(2);
  switch (attribute.type) {
    case Type::text: break;
    case Type::boolean: out.varint(2, attribute.boolean ? 1 : 0, true); break;
    case Type::integer: out.varint(3, static_cast<std::uint64_t>(attribute.integer), true); break;
    case Type::number: out.number(4, attribute.number, true); break;
  }
  out.end(any);
  out.end(whole);
}

std::uint64_t unix_ns(Instant at, Duration wall_offset) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>((at + wall_offset).ns, 0));
}

}  // namespace

void append_span(std::string& spans, const trace::SpanRecord& record, Duration wall_offset) {
  ProtobufWriter out(spans);
  const std::size_t span = out.begin(2);
  out.id(1, record.context.trace.high, record.context.trace.low);
  out.id(2, record.context.span.value);
  out.string(3, record.state());
  if (record.parent.is_valid()) out.id(4, record.parent.span.value);
  out.string(5, record.name());
  out.varint(6, static_cast<std::uint64_t>(record.kind));
  out.fixed64(7, unix_ns(record.began, wall_offset));
  out.fixed64(8, unix_ns(record.ended, wall_offset));
  for (std::size_t index = 0; index < record.attribute_count(); ++index) {
    add_attribute(out, record, record.attribute(index));
  }
  out.varint(10, record.dropped_attributes());
  if (record.status != trace::SpanStatus::unset) {
    const std::size_t status = out.begin(15);
    out.string(2, record.status_text());
    out.varint(3, static_cast<std::uint64_t>(record.status));
    out.end(status);
  }
  out.fixed32(16, record.context.flags | has_is_remote | (record.parent.is_remote ? is_remote : 0));
  out.end(span);
}

std::string traces_request(const Resource& resource, const Scope& scope, Bytes spans) {
  std::string request;
  request.reserve(spans.size() + 1024);
  ProtobufWriter out(request);
  const std::size_t resource_spans = out.begin(1);
  const std::size_t about = out.begin(1);
  for (const auto& [key, value] : resource.attributes()) add_text(out, 1, key, value);
  out.end(about);
  const std::size_t scope_spans = out.begin(2);
  const std::size_t recorder = out.begin(1);
  out.string(1, scope.name);
  out.string(2, scope.version);
  out.end(recorder);
  request += spans;
  out.string(3, schema_url);
  out.end(scope_spans);
  out.string(3, schema_url);
  out.end(resource_spans);
  return request;
}

std::optional<ExportReply> read_reply(Bytes content) {
  ExportReply reply;
  ProtobufReader in(content);
  while (in.next()) {
    if (in.number() != 1) continue;
    ProtobufReader partial(in.bytes());
    while (partial.next()) {
      if (partial.number() == 1) reply.rejected = static_cast<std::int64_t>(partial.value());
      if (partial.number() == 2) {
        reply.message.clear();
        Bytes message = partial.bytes().substr(0, 200);
        while (!message.empty()) reply.message += take_character(message);
      }
    }
    if (!partial.is_good()) return std::nullopt;
  }
  if (!in.is_good() || reply.rejected < 0) return std::nullopt;
  return reply;
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
