// Backend: the interface of a database for the calls of database.hpp.
//
// Owns       its connections and threads.
// Thread     any, unless a function below names another. Works are completed by posting them to
//            their executors.
// Fails      by Outcome::error; a submission cannot fail otherwise.
// Invariant  every submitted work completes, unless it is withdrawn: also when the database is
//            full, gone or closing.
//
// The interface fits a database that answers on the reactor (PostgreSQL, decision 0035). Its
// try_here() always returns `elsewhere`, submit() writes to the reactor's own connection, and the
// connection's watcher completes a work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "katana/base/system/function.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/error.hpp"
#include "katana/stores/database/statement_observer.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database {

// Counts since the start. Metrics are made of the members by their descriptions.
struct Counts {
  std::uint64_t reads_here = 0;
  std::uint64_t reads_moved = 0;
  std::uint64_t reads_pooled = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t writes = 0;
  std::uint64_t commits = 0;
  std::uint64_t writes_run = 0;
  std::uint64_t groups_redone = 0;
  std::uint64_t transactions = 0;
  std::uint64_t transactions_expired = 0;
  std::uint64_t refused_full = 0;
  std::uint64_t refused_waited = 0;
  std::uint64_t refused_unusable = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t busy_retries = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t statements_prepared = 0;
  std::uint64_t outages = 0;
  std::uint64_t reads_replica = 0;
  std::uint64_t replica_fallbacks = 0;
};
KATANA_DESCRIBE(
    Counts, (reads_here, help("Reads that a reactor answered itself.")),
    (reads_moved,
     help("Reads moved from a reactor to a reader thread because they took too long.")),
    (reads_pooled, help("Reads that reader threads or, of PostgreSQL, connections answered.")),
    (snapshots, help("Read transactions that the reads of a turn shared.")),
    (writes, help("Writes that were acknowledged, those of transactions included.")),
    (commits, help("Commits; writes that wait together share one.")),
    (writes_run, help("Writes executed in groups, including groups that were rolled back.")),
    (groups_redone, help("Groups executed again without the write that failed.")),
    (transactions, help("Transactions that the program began.")),
    (transactions_expired, help("Transactions rolled back because they were held for too long.")),
    (refused_full, named("refusals_full"), help("Calls refused because a queue was full.")),
    (refused_waited, named("refusals_waited"),
     help("Calls refused after they waited for too long.")),
    (refused_unusable, named("refusals_unusable"),
     help("Calls that failed because the database was not usable.")),
    (timeouts, help("Calls that did not end before their deadline.")),
    (cancelled, help("Calls cancelled by their caller.")),
    (busy_retries, help("Retries because another process held the database lock.")),
    (checkpoints, help("Checkpoints of the write-ahead log.")),
    (statements_prepared, help("Statements that were not in the cache.")),
    (outages, help("Times that the database became unusable.")),
    (reads_replica, help("Reads that a replica answered.")),
    (replica_fallbacks,
     help("Reads meant for a replica that the primary answered, because none was close enough.")))

// Present levels, of which metrics are made likewise.
struct Levels {
  bool usable = false;  // see Backend::health()
  std::uint32_t writes_waiting = 0;
  std::uint32_t reads_waiting = 0;
  std::uint32_t readers = 0;
  std::uint32_t readers_busy = 0;
  std::uint32_t streams_open = 0;
};
KATANA_DESCRIBE(Levels, (usable, help("1 if calls can be answered, else 0.")),
                (writes_waiting, help("Writes in the queue (SQLite).")),
                (reads_waiting,
                 help("Reads in the queue; of PostgreSQL, all calls that wait for a connection.")),
                (readers, help("Reader threads (SQLite), or open connections (PostgreSQL).")),
                (readers_busy, help("Those of them that execute a statement.")),
                (streams_open, help("Streams of rows that are being read.")))

// The counts since a database was opened, and its state now.
struct Statistics : Counts, Levels {};

// The database became unusable, for another reason than before, or usable again.
struct Outage {
  std::string_view where = {};  // "app@db1:5432,db2:5432/shop"
  std::string_view why = {};    // on one line, without a password; empty: it is over
  Duration lasted = {};         // of one that is over
};
// Called by any thread, with a lock held: it must not call the database.
using OutageObserver = std::function<void(const Outage&)>;

// The result of try_here().
enum class Attempt : std::uint8_t {
  done,       // here and now; see the outcome
  elsewhere,  // submit it as Order::read
  writes,     // submit it as Order::write
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Answers a statement, if that is possible without waiting; on the executor's thread. REQUIRES
  // Order::read.
  virtual Attempt try_here(const Request& request, Outcome& outcome) noexcept = 0;
  // The work is the backend's until it completes.
  virtual void submit(Work& work) noexcept = 0;
  // No caller waits for a submitted work any more. Its executor's thread.
  virtual void withdraw(Work& work) noexcept = 0;
  // The transaction is rolled back if it is still open.
  virtual void roll_back(std::uint64_t transaction) noexcept = 0;
  // The stream needs no more of its rows.
  virtual void close(Cursor& cursor) noexcept = 0;

  // Sets the observer of each statement that is over, before the first call. It outlives the calls.
  void observe_statements(StatementObserver* observer) noexcept {
    observed_ = {observer, system()};
    if (Backend& other = replica(); &other != this) other.observe_statements(observer);
  }
  const Observed& observed() const noexcept { return observed_; }
  // The name of the database system in OpenTelemetry: "sqlite", "postgresql".
  virtual Bytes system() const noexcept { return "database"; }
  // Sets the observer of outages. It is told at once of an outage that has begun before. A backend
  // that reports no outages does nothing.
  virtual void observe_outages(OutageObserver) {}
  // The backend of reads whose data may be a little old; this one, where there is no replica.
  virtual Backend& replica() noexcept { return *this; }
  // An Error says why the database is not usable. Reads only some words of memory.
  virtual katana::Result<void> health() const = 0;
  virtual Statistics statistics() const = 0;
  // Works are run in the turns of their executors, by no thread: no caller has to wait for one.
  virtual bool runs_in_turns() const noexcept { return false; }
  // The timeout of calls that were given none.
  virtual Duration timeout_default() const noexcept = 0;

 private:
  Observed observed_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
