#include "katana/observe/trace/span.hpp"

#include <utility>

namespace katana::trace {

void Span::begin(const CurrentSpan& parent, Bytes name, SpanKind kind) noexcept {
  Tracer& tracer = parent.root->tracer();
  SpanRecord* const record = tracer.take();
  if (record == nullptr) return;
  root_ = RootRef(parent.root);
  record->context = {parent.context.trace, tracer.new_span(), parent.context.flags, false};
  record->parent = parent.context;
  record->kind = kind;
  record->began = tracer.now();
  record->set_name(name);
  record_ = record;
  current_ = {parent.root, record->context};
  activity_ = *current_activity;
  activity_.span = &current_;
  outer_ = std::exchange(current_activity, &activity_);
}

void Span::end() noexcept {
  if (record_ == nullptr) return;
  // A coroutine that is destroyed while it waits ends within an activity of the destroying code.
  if (current_activity == &activity_) current_activity = outer_;
  SpanRecord& record = *std::exchange(record_, nullptr);
  record.ended = root_->tracer().now();
  root_->finish(record);
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
