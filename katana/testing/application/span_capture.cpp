#include "katana/testing/application/span_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace katana::testing {
namespace {

std::string text_of(const trace::SpanRecord& record, const trace::SpanRecord::Attribute& value) {
  using Type = trace::SpanRecord::Type;
  switch (value.type) {
    case Type::text: return std::string(record.text(value.text));
    case Type::boolean: return value.boolean ? "true" : "false";
    case Type::integer: return fmt::format("{}", value.integer);
    case Type::number: return fmt::format("{}", value.number);
  }
  return {};
}

template <class Id>
std::string hex_of(const Id& id) {
  const auto digits = id.hex();
  return {digits.data(), digits.size()};
}

}  // namespace

std::string CapturedSpan::attribute(std::string_view key) const {
  const auto found = attributes.find(std::string(key));
  return found != attributes.end() ? found->second : std::string();
}

std::string CapturedSpan::describe() const {
  std::string text = name + " {";
  for (const auto& [key, value] : attributes) {
    text += fmt::format("{}{}={}", text.back() == '{' ? "" : ", ", key, value);
  }
  return text + "}";
}

const CapturedSpan* SpanCapture::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(spans_, name, &CapturedSpan::name);
  return found != spans_.end() ? &*found : nullptr;
}

std::vector<CapturedSpan> SpanCapture::children(const CapturedSpan& parent) const {
  std::vector<CapturedSpan> below;
  std::ranges::copy_if(spans_, std::back_inserter(below), [&](const CapturedSpan& each) {
    return each.trace_id == parent.trace_id && each.parent_id == parent.span_id;
  });
  return below;
}

std::string SpanCapture::describe() const {
  std::string text;
  for (const CapturedSpan& each : spans_) text += each.describe() + '\n';
  return text;
}

void SpanCapture::take_from(trace::Tracer& tracer) {
  tracer.drain([this](const trace::SpanRecord& record) {
    CapturedSpan& span = spans_.emplace_back();
    span.name = record.name();
    span.kind = record.kind;
    span.status = record.status;
    span.trace_id = hex_of(record.context.trace);
    span.span_id = hex_of(record.context.span);
    if (record.parent.is_valid()) span.parent_id = hex_of(record.parent.span);
    if (record.link.is_valid()) span.link_id = hex_of(record.link.span);
    span.state = record.state();
    span.began = record.began;
    span.ended = record.ended;
    for (std::size_t index = 0; index < record.attribute_count(); ++index) {
      const auto& attribute = record.attribute(index);
      span.attributes[std::string(attribute.key, attribute.key_size)] = text_of(record, attribute);
    }
  });
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
