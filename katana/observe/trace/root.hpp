// Root: the part of a trace that one request, or one run of a job, has in this process. It has the
// sampling decision, the context, and spans that are held until the decision.
//
//   trace::RootRef root = trace::Root::begin(tracer, parent, state);
//   activity.span = &root->current();
//   …
//   root->end({.failed = status >= 500}, [&](trace::SpanRecord& span) { span.set_name(…); });
//
// A sampled root is recorded, with the spans below it. The tracer may have a rule for slow or
// failed roots. A root without sampling is then recorded if the rule applies: its spans are held
// until end().
//
// Owns       the state of the trace, and the held records.
// Borrows    its tracer.
// Thread     begin() and end() one; references, and spans below it, any.
// Allocates  from the recycler.
// Fails      never.
// Invariant  it lives as long as any span below it; a span that ends after end() shares its fate.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/text/text.hpp"
#include "katana/observe/trace/span_context.hpp"
#include "katana/observe/trace/trace_state.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::trace {

class Root;

// The target of Activity::span: the parent of new spans.
struct CurrentSpan {
  Root* root = nullptr;  // of the request, or the run of a job; never null where a span is current
  SpanContext context;   // of the span itself
};

// Records whose root is not decided yet.
class HeldSpans {
 public:
  // Adds a record that ended. `most`: the limit of held records.
  void add(Tracer& tracer, SpanRecord& record, std::uint32_t most) noexcept;
  // Decides whether all held and future records are kept. A decision is final.
  void decide(Tracer& tracer, bool kept) noexcept;

 private:
  // Values of the list after the decision; they are never dereferenced.
  static SpanRecord* kept_mark() noexcept { return reinterpret_cast<SpanRecord*>(1); }
  static SpanRecord* dropped_mark() noexcept { return reinterpret_cast<SpanRecord*>(2); }

  std::atomic<SpanRecord*> list_{nullptr};
  std::atomic<std::uint32_t> count_{0};
};

// Refers to a Root, which lives as long as any of them.
class RootRef {
 public:
  RootRef() noexcept = default;
  explicit RootRef(Root* root) noexcept;  // adds a reference
  RootRef(RootRef&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  RootRef& operator=(RootRef&& other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~RootRef();

  explicit operator bool() const noexcept { return root_ != nullptr; }
  Root* operator->() const noexcept { return root_; }
  Root& operator*() const noexcept { return *root_; }

 private:
  Root* root_ = nullptr;
};

// The origin of a root. A parent that is not valid: the trace begins here.
struct RootOrigin {
  SpanContext parent = {};  // of the span; not valid: none
  Bytes state = {};         // of the parent's trace; copied
  Bytes baggage = {};       // the text of a Baggage; copied
};

// How the work of a root ended.
struct RootEnd {
  bool failed = false;      // for keep_failed
  bool may_be_slow = true;  // false: its length is up to both sides
  // When it ended, by the tracer's clock; none: now.
  std::optional<Instant> ended = {};
};

class Root {
 public:
  static RootRef begin(Tracer& tracer, const RootOrigin& origin, Instant began);
  static RootRef begin(Tracer& tracer) { return begin(tracer, {}, tracer.now()); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  // Without end(), its spans are dropped.
  ~Root() {
    if (may_keep_) held_.decide(tracer_, false);
  }

  // The tracer that has begun it.
  Tracer& tracer() const noexcept { return tracer_; }
  // For Activity::span.
  const CurrentSpan& current() const noexcept { return current_; }
  const SpanContext& context() const noexcept { return current_.context; }
  const SpanContext& parent() const noexcept { return parent_; }
  Bytes state() const noexcept { return {state_.data(), state_size_}; }
  Bytes baggage() const noexcept { return baggage_.bytes(); }
  Instant began() const noexcept { return began_; }
  // Whether spans below it are recorded, at least until the decision.
  bool records() const noexcept { return is_sampled() || may_keep_; }
  bool is_sampled() const noexcept { return current_.context.is_sampled(); }

  // A span below it has ended.
  void finish(SpanRecord& record) noexcept;
  // Ends the work, once. f(SpanRecord&) adds the known facts, if it is kept. Returns whether it is.
  template <class F>
  bool end(const RootEnd& how, const F& f) noexcept {
    if (!records()) return false;
    const Instant now = how.ended ? *how.ended : tracer_.now();
    const bool kept = is_kept(how, now);
    if (may_keep_) held_.decide(tracer_, kept);
    if (!kept) return false;
    SpanRecord* const record = tracer_.take();
    if (record == nullptr) return false;
    record->context = context();
    record->parent = parent_;
    record->began = began_;
    record->ended = now;
    record->set_state(state());
    if (how.failed) record->status = SpanStatus::error;
    f(*record);
    if (baggage_.size() > 0) add_baggage(*record);
    tracer_.put_ready(*record);
    return true;
  }

 private:
  friend class RootRef;

  Root(Tracer& tracer, const RootOrigin& origin, Instant began) noexcept;
  void add_baggage(SpanRecord& record) const noexcept;
  bool is_kept(const RootEnd& how, Instant now) const noexcept;
  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  Tracer& tracer_;
  const SpanContext parent_;
  CurrentSpan current_;
  const Instant began_;
  bool may_keep_ = false;  // not sampled, but a rule may keep it at its end
  HeldSpans held_;
  std::atomic<std::uint32_t> references_{0};
  std::uint16_t state_size_ = 0;
  std::array<char, trace_state_bytes_max> state_;
  Text baggage_;
};

inline RootRef::RootRef(Root* root) noexcept : root_(root) {
  if (root != nullptr) root->references_.fetch_add(1, std::memory_order_relaxed);
}
inline RootRef::~RootRef() {
  // acq_rel: all uses by other threads come before its end
  if (root_ != nullptr && root_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete root_;
  }
}

// The span of this thread's present work; null: the work is not traced.
inline const CurrentSpan* current_span() noexcept {
  return current_activity != nullptr ? current_activity->span : nullptr;
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
