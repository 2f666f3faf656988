#include "katana/stores/bus/message_span.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "katana/observe/trace/baggage.hpp"
#include "katana/observe/trace/trace_state.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr Bytes trace_parent_header = "traceparent";
constexpr Bytes trace_state_header = "tracestate";
constexpr Bytes baggage_header = "baggage";

std::size_t bytes_of(Bytes name, Bytes value) noexcept { return name.size() + value.size() + 4; }

bool is_temporary(Bytes subject) noexcept { return subject.starts_with(inbox_prefix); }
bool has_digit(Bytes token) noexcept {
  return std::ranges::any_of(token, [](char c) { return c >= '0' && c <= '9'; });
}

// The name of a span must have few values: a token with a digit becomes '*'.
class SpanName {
 public:
  SpanName(Bytes operation, Bytes subject) noexcept {
    add(operation);
    add(" ");
    if (is_temporary(subject)) {
      add("(temporary)");
      return;
    }
    while (true) {
      const std::size_t dot = subject.find('.');
      const Bytes token = subject.substr(0, dot);
      add(has_digit(token) ? Bytes("*") : token);
      if (dot == Bytes::npos) return;
      add(".");
      subject.remove_prefix(dot + 1);
    }
  }
  Bytes text() const noexcept { return {text_.data(), size_}; }

 private:
  void add(Bytes part) noexcept {
    const std::size_t size = std::min(part.size(), text_.size() - size_);
    std::copy_n(part.data(), size, text_.data() + size_);
    size_ += size;
  }
  std::array<char, 128> text_;
  std::size_t size_ = 0;
};

void add_destination(trace::SpanRecord& record, Bytes subject) noexcept {
  record.add("messaging.destination.name", subject);
  if (is_temporary(subject)) record.add("messaging.destination.temporary", true);
}

// Invalid: the message has no context, or a malformed one.
trace::SpanContext producer_of(trace::Tracer* tracer, const Delivery& message) noexcept {
  if (tracer == nullptr || !tracer->options().propagates) return {};
  const std::optional<Bytes> value = message.header(trace_parent_header);
  if (!value) return {};
  if (const auto parsed = trace::parse_trace_parent(*value)) return trace::remote_context(*parsed);
  tracer->count(trace::Ignored::trace_parent);
  return {};
}

Bytes state_of(trace::Tracer& tracer, const Delivery& message, trace::TraceState& state) noexcept {
  for_each_header(message.headers(), [&](Bytes name, Bytes value) {
    if (is_same_header(name, trace_state_header)) state.add(value);
  });
  if (state.is_malformed()) tracer.count(trace::Ignored::trace_state);
  return state.text();
}

trace::Baggage baggage_of(trace::Tracer* tracer, const Delivery& message) {
  if (tracer == nullptr || tracer->options().baggage.empty()) return trace::Baggage({});
  trace::Baggage baggage(tracer->options().baggage);
  for_each_header(message.headers(), [&](Bytes name, Bytes value) {
    if (is_same_header(name, baggage_header)) baggage.add(value);
  });
  if (baggage.has_ignored()) tracer->count(trace::Ignored::baggage);
  return baggage;
}

}  // namespace

PublishSpan::PublishSpan(Bytes system, const Publication& given, std::size_t room) noexcept
    : span_(SpanName("publish", given.subject).text(), trace::SpanKind::producer),
      publication_(given) {
  add_context(room);
  if (!span_.is_recorded()) return;
  span_.set("messaging.system", system)
      .set("messaging.operation.name", Bytes("publish"))
      .set("messaging.operation.type", Bytes("send"))
      .set("messaging.destination.name", given.subject)
      .set("messaging.message.body.size", given.payload.size());
  if (is_temporary(given.subject)) span_.set("messaging.destination.temporary", true);
  if (!given.id.empty()) span_.set("messaging.message.id", given.id);
}

// The bus has checked nothing yet: headers that it will refuse stay as they are.
void PublishSpan::add_context(std::size_t room) noexcept {
  const trace::CurrentSpan& current = *trace::current_span();
  const trace::Root& root = *current.root;
  parent_ = trace::trace_parent_of(current.context);
  const Bytes parent(parent_.data(), parent_.size());
  std::size_t used = publication_.id.empty() ? 0 : bytes_of(message_id_header, publication_.id);
  for (const Header& each : publication_.headers) used += bytes_of(each.name, each.value);
  room = std::min(room, header_bytes_max - std::min(used, header_bytes_max));
  if (publication_.headers.size() > headers_max) return;
  std::ranges::copy(publication_.headers, headers_.begin());
  std::size_t count = publication_.headers.size();
  const auto add = [&](Bytes name, Bytes value) {
    const auto has_name = [&](const Header& each) { return is_same_header(each.name, name); };
    if (value.empty() || count == headers_max || bytes_of(name, value) > room ||
        std::ranges::any_of(publication_.headers, has_name)) {
      return false;
    }
    headers_[count++] = {name, value};
    room -= bytes_of(name, value);
    return true;
  };
  if (root.tracer().options().propagates && add(trace_parent_header, parent)) {
    add(trace_state_header, root.state());
  }
  add(baggage_header, root.baggage());
  publication_.headers = {headers_.data(), count};
}

void PublishSpan::end(const Result<Published>& done) noexcept {
  if (!done) {
    span_.fail();
    span_.set("error.type", code_name(done.error().code()));
  }
  span_.end();
}

HandlerSpan::HandlerSpan(trace::Tracer* tracer, Bytes system, Bytes pattern, Bytes group,
                         const Delivery& message) noexcept
    : system_(system),
      pattern_(pattern),
      group_(group),
      message_(message),
      producer_(producer_of(tracer, message)),
      span_(tracer, {}, trace::SpanKind::consumer,
            {producer_, producer_.is_valid() ? state_of(*tracer, message, state_) : Bytes(),
             baggage_of(tracer, message).text()}) {}

HandlerSpan::~HandlerSpan() {
  const auto add = [this](trace::SpanRecord& record) { add_attributes(record); };
  error_type_.empty() ? span_.end(Result<void>(), add) : span_.fail(error_type_, add);
}

void HandlerSpan::add_attributes(trace::SpanRecord& record) const noexcept {
  const Bytes subject = message_.subject();
  const bool is_template = pattern_.find_first_of("*>") != Bytes::npos;
  record.set_name(SpanName("process", is_template ? pattern_ : subject).text());
  record.link = producer_;
  record.add("messaging.system", system_);
  record.add("messaging.operation.name", Bytes("process"));
  record.add("messaging.operation.type", Bytes("process"));
  add_destination(record, subject);
  if (is_template) record.add("messaging.destination.template", pattern_);
  if (!group_.empty()) record.add("messaging.consumer.group.name", group_);
  record.add("messaging.message.body.size", message_.payload().size());
  if (const auto id = message_.header(message_id_header)) record.add("messaging.message.id", *id);
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
