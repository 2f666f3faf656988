#include "katana/stores/jobs/job_span.hpp"

#include <utility>

namespace katana::jobs {
namespace {

void add_id(log::Context& fields, log::FieldName key, trace::SpanId id) noexcept {
  const auto digits = id.hex();
  fields.add(log::field(key, Bytes(digits.data(), digits.size())));
}

}  // namespace

void JobSpan::begin(trace::Tracer& tracer, const std::string& name, trace::SpanKind kind) noexcept {
  const Activity* const outer = current_activity;
  Open& open = open_.emplace(Open{trace::Root::begin(tracer), name, kind, {}, {}, {}, outer});
  if (outer != nullptr) open.activity = *outer;
  const trace::SpanContext& context = open.root->context();
  open.trace = context.trace.hex();
  open.activity.trace = {open.trace.data(), open.trace.size()};
  if (!open.activity.name.empty()) open.fields.add(log::field("request_id", open.activity.name));
  open.fields.add(log::field("trace_id", open.activity.trace));
  add_id(open.fields, "span_id", context.span);
  open.activity.log_context = &open.fields;
  open.activity.span = &open.root->current();
  current_activity = &open.activity;
}

void JobSpan::leave() noexcept {
  // A coroutine that is destroyed while it waits ends in an activity of its destroyer's.
  if (current_activity == &open_->activity) current_activity = open_->outer;
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
