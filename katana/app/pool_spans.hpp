// PoolSpans: a span for each job that a coroutine awaits from a pool of the program.
//
//   pool work      INTERNAL, below the current span: from the submission until the coroutine goes
//                  on, with the time that the job waited for a thread
//
// The conventions of OpenTelemetry have no such span: it is recorded only with
// TracerOptions::experimental.
//
// Borrows    the tracer and the pools, which it outlives.
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  a job has at most one span, also when its coroutine is destroyed.
#pragma once

#include "katana/app/pools.hpp"
#include "katana/base/thread/pool_options.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {

class PoolSpans final : public thread::RunObserver {
 public:
  explicit PoolSpans(const trace::Tracer& tracer) noexcept : tracer_(tracer) {}

  // Observes all pools, if the tracer records experimental spans.
  void begin(const Pools& pools) noexcept;

  Instant now() const noexcept override { return tracer_.now(); }
  void on_run(const thread::RunReport& report) noexcept override;

 private:
  const trace::Tracer& tracer_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
