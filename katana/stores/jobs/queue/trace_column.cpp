#include "katana/stores/jobs/queue/trace_column.hpp"

#include <optional>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/database/make_missing.hpp"

namespace katana::queue {
namespace {

using database::Kind;
using database::SqlFor;

constexpr SqlFor<> add_trace(
    "ALTER TABLE katana_queue_jobs ADD COLUMN trace TEXT NOT NULL DEFAULT ''");

// A thread without a reactor has no virtual time.
std::int64_t now_ns() noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  return reactor != nullptr ? reactor->now().ns : monotonic_now().ns;
}

}  // namespace

// The right to add the column, while the call has it. A call that is cancelled gives it back.
class TraceColumn::Adding {
 public:
  explicit Adding(TraceColumn& of) noexcept
      : of_(of), is_mine_(!of.is_adding_.exchange(true, std::memory_order_relaxed)) {}
  ~Adding() {
    if (is_mine_) of_.is_adding_.store(false, std::memory_order_relaxed);
  }
  Adding(const Adding&) = delete;
  Adding& operator=(const Adding&) = delete;
  bool is_mine() const noexcept { return is_mine_; }

 private:
  TraceColumn& of_;
  const bool is_mine_;
};

TraceColumn::TraceColumn(database::Database& database) noexcept
    : database_(database), is_postgres_(database.backend().system() == "postgresql") {}

Task<database::Result<bool>> TraceColumn::find(database::Queries in, bool in_transaction) {
  if (is_there_.load(std::memory_order_relaxed)) co_return true;
  if (is_pausing()) co_return false;
  const database::Result<std::int64_t> columns = co_await count_columns(in);
  if (!columns) co_return std::unexpected(columns.error());
  if (*columns != 1) {
    const bool is_certain = is_postgres_ || !in_transaction;
    if (*columns == 2 && is_certain) is_there_.store(true, std::memory_order_relaxed);
    co_return true;
  }
  if (is_left_.load(std::memory_order_relaxed)) {
    give_up(nullptr);
    co_return false;
  }
  // Another session would add it, and wait for the locks of this transaction.
  if (is_postgres_ && in_transaction) co_return false;
  const Adding adding(*this);
  // Another call may have failed to add it since this one looked.
  if (!adding.is_mine() || is_pausing()) co_return false;
  co_return co_await add(in, in_transaction);
}

// The column `queue` tells a table without `trace` from no table.
Task<database::Result<std::int64_t>> TraceColumn::count_columns(database::Queries in) {
  static constexpr SqlFor<> sqlite(
      "SELECT count(*) FROM pragma_table_info('katana_queue_jobs') WHERE name IN ('queue', "
      "'trace')");
  static constexpr SqlFor<> postgres(
      "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('katana_queue_jobs') AND "
      "attname IN ('queue', 'trace') AND NOT attisdropped");
  const SqlFor<>& sql = is_postgres_ ? postgres : sqlite;
  const database::Result<std::optional<std::int64_t>> columns =
      co_await in.query_one<std::int64_t>(sql);
  if (!columns) co_return std::unexpected(columns.error());
  co_return columns->value_or(0);
}

// ALTER TABLE fails if another process has added the column meanwhile (42701 of PostgreSQL), so the
// column is looked for again after each failure.
Task<database::Result<bool>> TraceColumn::add(database::Queries in, bool in_transaction) {
  database::Result<std::int64_t> added = 0;
  if (is_postgres_) {
    added = co_await alter_postgres();
  } else {
    added = co_await in.execute(add_trace);
  }
  if (added) {
    if (!in_transaction) is_there_.store(true, std::memory_order_relaxed);
    co_return true;
  }
  const database::Result<std::int64_t> columns = co_await count_columns(in);
  if (!columns) co_return std::unexpected(columns.error());
  if (*columns == 2) {
    if (!in_transaction) is_there_.store(true, std::memory_order_relaxed);
    co_return true;
  }
  // A lock that another session has (55P03), or a deadlock (40P01). Other errors, such as a missing
  // right, do not go away.
  const bool may_succeed = added.error().retryable();
  const int attempts = attempts_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (may_succeed && attempts < database::make_attempts_max) {
    look_again_in(add_pause);
  } else {
    is_left_.store(true, std::memory_order_relaxed);
    give_up(&added.error());
  }
  co_return false;
}

// An ALTER TABLE waits for each transaction that has used the table. All later statements on the
// table wait behind it.
Task<database::Result<std::int64_t>> TraceColumn::alter_postgres() {
  auto transaction = co_await database_.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  const database::Result<std::int64_t> limited =
      co_await transaction->execute("SET LOCAL lock_timeout = '1s'");
  if (!limited) co_return std::unexpected(limited.error());
  const database::Result<std::int64_t> added = co_await transaction->execute(add_trace);
  if (!added) {
    (void)co_await transaction->rollback();  // the error of the statement is the one to report
    co_return added;
  }
  co_return co_await transaction->commit();
}

bool TraceColumn::is_pausing() const noexcept {
  return now_ns() < look_at_ns_.load(std::memory_order_relaxed);
}

void TraceColumn::look_again_in(Duration pause) noexcept {
  look_at_ns_.store(now_ns() + pause.ns, std::memory_order_relaxed);
}

void TraceColumn::give_up(const database::Error* why) noexcept {
  look_again_in(look_pause);
  const Executor* const executor = Executor::current();
  FailureObserver* const observer = executor != nullptr ? executor->failure_observer() : nullptr;
  if (observer == nullptr || is_told_.exchange(true, std::memory_order_relaxed)) return;
  if (why == nullptr) {
    observer->on_failure(
        {.what = "katana_queue_jobs has no column 'trace', and jobs no link to what queued them: "
                 "add JobQueue::trace_migrations() to the program's migrations",
         .severity = Severity::warning});
  } else {
    observer->on_failure(
        {.what = "jobs have no link to what queued them, because a column cannot be added: run "
                 "ALTER TABLE katana_queue_jobs ADD COLUMN trace TEXT NOT NULL DEFAULT ''",
         .error = why,
         .severity = Severity::warning});
  }
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
