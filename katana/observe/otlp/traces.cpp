#include "katana/observe/otlp/traces.hpp"

#include <algorithm>

#include "katana/base/text/protobuf.hpp"

namespace katana::otlp {
namespace {

// Flags of a span (SpanFlags): whether its parent is known to belong to another process.
constexpr std::uint32_t has_is_remote = 0x100;
constexpr std::uint32_t is_remote = 0x200;

// The flags of `context`, and where `origin` was begun.
std::uint32_t flags_of(const trace::SpanContext& context,
                       const trace::SpanContext& origin) noexcept {
  return context.flags | has_is_remote | (origin.is_remote ? is_remote : 0);
}

void add_attribute(ProtobufWriter& out, const trace::SpanRecord& record,
                   const trace::SpanRecord::Attribute& attribute) {
  using Type = trace::SpanRecord::Type;
  const Bytes key(attribute.key, attribute.key_size);
  if (attribute.type == Type::text) {
    return add_text_attribute(out, 9, key, record.text(attribute.text));
  }
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
  if (record.link.is_valid()) {
    const std::size_t link = out.begin(13);
    out.id(1, record.link.trace.high, record.link.trace.low);
    out.id(2, record.link.span.value);
    out.fixed32(6, flags_of(record.link, record.link));
    out.end(link);
  }
  if (record.status != trace::SpanStatus::unset) {
    const std::size_t status = out.begin(15);
    out.string(2, record.status_text());
    out.varint(3, static_cast<std::uint64_t>(record.status));
    out.end(status);
  }
  out.fixed32(16, flags_of(record.context, record.parent));
  out.end(span);
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
