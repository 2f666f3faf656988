// MigrationTelemetry: migrations that a program applies at its start, in its log and its traces.
//
//   on_migrated(applied)   a record of each file; spans, once there is a tracer
//   trace_with(&tracer)    spans of earlier migrations are recorded now, and of later ones then
//
//   migrations                     of one commit; katana.migrations.applied, db.system.name
//     migration                    of one file; katana.migration.file
//
// Owns       what was applied before there was a tracer.
// Borrows    the tracer, until trace_with(nullptr).
// Thread     any: a database that is awaited is migrated by the thread that opens it.
// Allocates  for each file.
// Fails      never.
// Invariant  a file has one record and at most one span.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "katana/observe/log/log.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/database/migrations.hpp"

namespace katana::app {

class MigrationTelemetry {
 public:
  // `system`: of the attribute db.system.name, such as "sqlite".
  MigrationTelemetry(std::string_view system, log::Logger logger);

  // Takes the files of one commit, as database::Opening reports them.
  void on_migrated(std::span<const database::Migration> applied);
  // Null: no span is recorded from now on.
  void trace_with(trace::Tracer* tracer);

 private:
  void record(const std::vector<database::Migration>& applied) const;

  const std::string system_;
  const log::Logger logger_;
  std::mutex mutex_;  // of the members below
  trace::Tracer* tracer_ = nullptr;
  std::vector<std::vector<database::Migration>> waiting_;  // for a tracer; by commit
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
