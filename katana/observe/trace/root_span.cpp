#include "katana/observe/trace/root_span.hpp"

namespace katana::trace {
namespace {

void add_id(log::Context& fields, log::FieldName key, SpanId id) noexcept {
  const auto digits = id.hex();
  fields.add(log::field(key, Bytes(digits.data(), digits.size())));
}

}  // namespace

void RootSpan::begin(Tracer& tracer, Bytes name, SpanKind kind, const RootOrigin& origin) noexcept {
  const Activity* const outer = current_activity;
  Open& open =
      open_.emplace(Open{Root::begin(tracer, origin, tracer.now()), name, kind, {}, {}, {}, outer});
  if (outer != nullptr) open.activity = *outer;
  const SpanContext& context = open.root->context();
  open.trace = context.trace.hex();
  open.activity.trace = {open.trace.data(), open.trace.size()};
  if (!open.activity.name.empty()) open.fields.add(log::field("request_id", open.activity.name));
  open.fields.add(log::field("trace_id", open.activity.trace));
  add_id(open.fields, "span_id", context.span);
  open.activity.log_context = &open.fields;
  open.activity.span = &open.root->current();
  current_activity = &open.activity;
}

void RootSpan::leave() noexcept {
  // A coroutine that is destroyed while it waits ends in an activity of its destroyer's.
  if (current_activity == &open_->activity) current_activity = open_->outer;
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
