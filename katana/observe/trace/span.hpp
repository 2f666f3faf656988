// Span: a named piece of work of the user, from here to the end of the block.
//
//   Task<Price> price_of(Order order) {
//     trace::Span span("price");
//     span.set("order.items", order.items.size());
//     co_return co_await prices.ask(order);      // its calls are below "price"
//   }
//
// Its parent is the span that is current when it begins. It is current until it ends, also after
// each co_await of its block. Where nothing is recorded it costs two tests.
//
// Owns       its record, and a reference to its root.
// Borrows    the activity in which it begins; keys are literals.
// Thread     that of its coroutine: it may end on another thread than the one on which it began.
// Allocates  never.
// Fails      never: without room it is not recorded, which is counted.
// Invariant  concurrent coroutines never see one another's spans, and the block restores the
//            thread's activity.
#pragma once

#include "katana/base/coroutine/activity.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::trace {

class [[nodiscard]] Span {
 public:
  explicit Span(Bytes name, SpanKind kind = SpanKind::internal) noexcept {
    const CurrentSpan* const parent = current_span();
    if (parent != nullptr && parent->root->records()) [[unlikely]]
      begin(*parent, name, kind);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (record_ != nullptr) [[unlikely]]
      end();
  }

  // An attribute: a text, a number or a boolean. Not more than attributes_max.
  template <class T>
  Span& set(Key key, const T& value) noexcept {
    if (record_ != nullptr) record_->add(key, value);
    return *this;
  }
  // Marks it as failed; `why` gives the reason in a few words, without secrets.
  Span& fail(Bytes why = {}) noexcept {
    if (record_ != nullptr) record_->fail(why);
    return *this;
  }
  // Ends it before the end of the block.
  void end() noexcept;

  // False: nothing of it is kept, and attributes are not needed.
  bool is_recorded() const noexcept { return record_ != nullptr; }
  // Not valid: it is not recorded.
  SpanContext context() const noexcept {
    return record_ != nullptr ? record_->context : SpanContext();
  }

 private:
  void begin(const CurrentSpan& parent, Bytes name, SpanKind kind) noexcept;

  SpanRecord* record_ = nullptr;  // null: it is not recorded, or it has ended
  RootRef root_;
  CurrentSpan current_;
  Activity activity_;
  const Activity* outer_ = nullptr;
};

// Records a span that has ended already, below the current one. For code that measures itself, such
// as a statement. f(SpanRecord&) adds the known facts.
template <class F>
void record_span(Bytes name, SpanKind kind, Instant began, Instant ended, const F& f) noexcept {
  const CurrentSpan* const parent = current_span();
  if (parent == nullptr || !parent->root->records()) return;
  Root& root = *parent->root;
  SpanRecord* const record = root.tracer().take();
  if (record == nullptr) return;
  record->context = {parent->context.trace, root.tracer().new_span(), parent->context.flags, false};
  record->parent = parent->context;
  record->kind = kind;
  record->began = began;
  record->ended = ended;
  record->set_name(name);
  f(*record);
  root.finish(*record);
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
