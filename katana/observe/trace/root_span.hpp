// RootSpan: the trace of one piece of work that no request asked for: an attempt of a job, or the
// handler of a message. It lasts to the end of the block.
//
//   RootSpan span(tracer, place);                 // tracer null: nothing is recorded
//   Result<void> ran = co_await job.run(run);     // its statements and calls are below the span
//   span.end(ran, [&](trace::SpanRecord& record) { record.add("katana.job.name", job.name); });
//
// The work begins a trace, or goes on with the trace of the context that it was given. Log records
// of the work have its trace_id and span_id.
//
// Owns       the root of the trace, and the activity of the work.
// Borrows    the tracer, the name, and the activity in which it begins.
// Thread     its reactor's; it stays in the frame of one function or coroutine.
// Allocates  from the recycler, when there is a tracer.
// Fails      never. Work that ends without end() was cancelled, and its span says so.
// Invariant  the thread's activity is after the block what it was before.
#pragma once

#include <array>
#include <optional>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/result.hpp"
#include "katana/observe/log/context.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::trace {

class [[nodiscard]] RootSpan {
 public:
  // `name`: of the span, such as "job purge". Empty: f of end() sets it.
  RootSpan(Tracer* tracer, Bytes name, SpanKind kind = SpanKind::internal,
           const RootOrigin& origin = {}) noexcept {
    if (tracer != nullptr) begin(*tracer, name, kind, origin);
  }
  RootSpan(const RootSpan&) = delete;
  RootSpan& operator=(const RootSpan&) = delete;
  ~RootSpan() {
    if (open_) fail("cancelled");
  }

  // The work is over. f(SpanRecord&) adds its attributes if the span is kept.
  template <class F>
  void end(const Result<void>& result, const F& f) noexcept {
    end_with(result ? Bytes() : Bytes("error"), f);
  }
  // The work threw, or was cancelled: `error_type` says which.
  template <class F>
  void fail(Bytes error_type, const F& f) noexcept {
    end_with(error_type, f);
  }
  void fail(Bytes error_type) noexcept {
    fail(error_type, [](SpanRecord&) {});
  }
  // False: there is no tracer, or the span has ended.
  bool is_open() const noexcept { return open_.has_value(); }

 private:
  // Everything that exists only while a tracer records.
  struct Open {
    RootRef root;
    Bytes name;
    SpanKind kind;
    std::array<char, trace_id_digits> trace;
    log::Context fields;
    Activity activity;
    const Activity* outer;
  };

  void begin(Tracer& tracer, Bytes name, SpanKind kind, const RootOrigin& origin) noexcept;
  void leave() noexcept;
  template <class F>
  void end_with(Bytes error_type, const F& f) noexcept {
    if (!open_) return;
    leave();
    open_->root->end({.failed = !error_type.empty()}, [&](SpanRecord& record) {
      record.kind = open_->kind;
      if (!open_->name.empty()) record.set_name(open_->name);
      if (!error_type.empty()) record.add("error.type", error_type);
      f(record);
    });
    open_.reset();
  }

  std::optional<Open> open_;  // none: no tracer, or it has ended
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
