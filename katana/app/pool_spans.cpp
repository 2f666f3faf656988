#include "katana/app/pool_spans.hpp"

#include "katana/observe/trace/span.hpp"

namespace katana::app {

void PoolSpans::begin(const Pools& pools) noexcept {
  if (!tracer_.options().experimental) return;
  for (const auto& pool : pools.all()) pool->observe_runs(this);
}

void PoolSpans::on_run(const thread::RunReport& report) noexcept {
  trace::record_span("pool", trace::SpanKind::internal, report.began, tracer_.now(),
                     [&](trace::SpanRecord& span) {
                       span.set_name("pool", report.pool);
                       span.add("katana.pool.name", report.pool);
                       if (report.error.empty()) return;
                       span.fail();
                       span.add("error.type", report.error);
                     });
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
