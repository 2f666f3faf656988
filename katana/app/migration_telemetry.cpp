#include "katana/app/migration_telemetry.hpp"

#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/observe/trace/span.hpp"

namespace katana::app {

MigrationTelemetry::MigrationTelemetry(std::string_view system, log::Logger logger)
    : system_(system), logger_(std::move(logger)) {}

void MigrationTelemetry::on_migrated(std::span<const database::Migration> applied) {
  std::vector<database::Migration> commit;
  for (const database::Migration& each : applied) {
    logger_.info("migration {} was applied in {} ms", each.file,
                 (each.ended - each.began).count_ms());
    commit.push_back({.number = each.number,
                      .file = each.file,
                      .checksum = {},
                      .text = {},
                      .began = each.began,
                      .ended = each.ended});
  }
  const std::lock_guard lock(mutex_);
  if (tracer_ != nullptr) return record(commit);
  waiting_.push_back(std::move(commit));
}

void MigrationTelemetry::trace_with(trace::Tracer* tracer) {
  const std::lock_guard lock(mutex_);
  tracer_ = tracer;
  if (tracer_ == nullptr) return;
  for (const auto& commit : waiting_) record(commit);
  waiting_.clear();
}

void MigrationTelemetry::record(const std::vector<database::Migration>& applied) const {
  if (applied.empty()) return;
  trace::RootRef root = trace::Root::begin(*tracer_, {}, applied.front().began);
  const Activity* const outer = current_activity;
  const Activity activity{.span = &root->current()};
  current_activity = &activity;
  for (const database::Migration& each : applied) {
    trace::record_span(
        "migration", trace::SpanKind::internal, each.began, each.ended,
        [&](trace::SpanRecord& span) { span.add("katana.migration.file", each.file); });
  }
  current_activity = outer;
  root->end({.ended = applied.back().ended}, [&](trace::SpanRecord& span) {
    span.set_name("migrations");
    span.add("db.system.name", Bytes(system_));
    span.add("katana.migrations.applied", applied.size());
  });
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
