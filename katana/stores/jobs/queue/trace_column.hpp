// TraceColumn: whether the table of the queue has the column `trace`, and its addition.
//
// A table of version 0.2.0 has no such column. The queue works without it: jobs then have no link
// to the span that queued them. Processes of both versions may share the table. A migration may add
// the column while they run, so a missing column is looked for again.
//
//   table of …          find()
//   version 0.3         finds the column once
//   0.2, make_table     adds it: one call of the process at a time, add_pause between attempts
//   0.2, migrations     warns once, and looks again after look_pause
//
// ALTER TABLE waits one second for its lock in PostgreSQL. After make_attempts_max attempts, or an
// error that stays, the queue leaves the column to others.
//
// Borrows    the database, which must outlive it. The observer of failures is the executor's.
// Thread     any executor's.
// Allocates  as the database's calls do.
// Fails      with the database's Error of the search. A column that cannot be added is no failure.
// Invariant  a column that was made within a transaction of SQLite is not remembered: the
//            transaction may be rolled back. A transaction of PostgreSQL never adds it.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::queue {

class TraceColumn {
 public:
  explicit TraceColumn(database::Database& database) noexcept;

  // The program's migrations add the column. REQUIRES that no call runs yet.
  void leave_to_migrations() noexcept { is_left_.store(true, std::memory_order_relaxed); }
  // False: statements have to do without the column. True also where there is no table yet, so that
  // the statement's own error says that. `in_transaction`: `in` is one.
  Task<database::Result<bool>> find(database::Queries in, bool in_transaction);

  static constexpr Duration look_pause = seconds(60);  // between searches for a missing column
  static constexpr Duration add_pause = seconds(10);   // between attempts to add it

 private:
  class Adding;

  Task<database::Result<std::int64_t>> count_columns(database::Queries in);
  Task<database::Result<bool>> add(database::Queries in, bool in_transaction);
  Task<database::Result<std::int64_t>> alter_postgres();
  bool is_pausing() const noexcept;
  void look_again_in(Duration pause) noexcept;
  void give_up(const database::Error* why) noexcept;

  database::Database& database_;
  const bool is_postgres_;
  // Each stands alone and guards no other data, so relaxed order is enough.
  std::atomic<bool> is_there_ = false;
  std::atomic<bool> is_left_ = false;    // the queue does not add it, or does so no longer
  std::atomic<bool> is_told_ = false;    // the warning was given
  std::atomic<bool> is_adding_ = false;  // a call of this process does
  std::atomic<int> attempts_ = 0;
  std::atomic<std::int64_t> look_at_ns_ = 0;  // of the executor's clock
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
