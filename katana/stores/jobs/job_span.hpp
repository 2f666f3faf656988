// JobSpan: the trace of one attempt of a job, from here to the end of the block.
//
//   JobSpan span(tracer, place);                  // tracer null: nothing is recorded
//   Result<void> ran = co_await job.run(run);     // its statements and calls are below the span
//   span.end(ran, [&](trace::SpanRecord& record) { record.add("katana.job.name", job.name); });
//
// The attempt begins a trace. Log records of the attempt have its trace_id and span_id.
//
// Owns       the root of the trace, and the activity of the attempt.
// Borrows    the tracer, and the activity in which it begins.
// Thread     its reactor's; it stays in the frame of one coroutine.
// Allocates  from the recycler, when there is a tracer.
// Fails      never. An attempt that ends without end() was cancelled, and its span says so.
// Invariant  the thread's activity is after the block what it was before.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/result.hpp"
#include "katana/observe/log/context.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::jobs {

class [[nodiscard]] JobSpan {
 public:
  // `name`: of the span, such as "job purge".
  JobSpan(trace::Tracer* tracer, const std::string& name,
          trace::SpanKind kind = trace::SpanKind::internal) noexcept {
    if (tracer != nullptr) begin(*tracer, name, kind);
  }
  JobSpan(const JobSpan&) = delete;
  JobSpan& operator=(const JobSpan&) = delete;
  ~JobSpan() {
    if (open_) fail("cancelled");
  }

  // The attempt is over. f(SpanRecord&) adds its attributes if the span is kept.
  template <class F>
  void end(const Result<void>& result, const F& f) noexcept {
    end_with(result ? Bytes() : Bytes("error"), f);
  }
  // The attempt threw, or was cancelled: `error_type` says which.
  template <class F>
  void fail(Bytes error_type, const F& f) noexcept {
    end_with(error_type, f);
  }
  void fail(Bytes error_type) noexcept {
    fail(error_type, [](trace::SpanRecord&) {});
  }

 private:
  // Everything that exists only while a tracer records.
  struct Open {
    trace::RootRef root;
    const std::string& name;
    trace::SpanKind kind;
    std::array<char, trace::trace_id_digits> trace;
    log::Context fields;
    Activity activity;
    const Activity* outer;
  };

  void begin(trace::Tracer& tracer, const std::string& name, trace::SpanKind kind) noexcept;
  void leave() noexcept;
  template <class F>
  void end_with(Bytes error_type, const F& f) noexcept {
    if (!open_) return;
    leave();
    open_->root->end({.failed = !error_type.empty()}, [&](trace::SpanRecord& record) {
      record.kind = open_->kind;
      record.set_name(open_->name);
      if (!error_type.empty()) record.add("error.type", error_type);
      f(record);
    });
    open_.reset();
  }

  std::optional<Open> open_;  // none: no tracer, or it has ended
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
