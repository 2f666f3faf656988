// Backend: what a database has to be able to do for the calls of database.hpp.
//
// Owns       its connections and threads.
// Thread     any, but for what is said below. Works are completed by posting them to their
//            executors.
// Fails      by Outcome::error; a submission cannot fail otherwise.
// Invariant  every submitted work completes, unless it is withdrawn: also when the database is
//            full, gone or closing.
//
// The shape fits a database that answers on the reactor (PostgreSQL, decision 0035): try_here()
// then says `elsewhere` to everything, submit() writes to the reactor's own connection, and a work
// is completed from the connection's watcher.
#pragma once

#include <cstdint>
#include <string>

#include "katana/database/error.hpp"
#include "katana/database/work.hpp"

namespace katana::database {

// Counts since the start, and what is at present. Plain numbers: whoever wires the program copies
// them where they are wanted.
struct Figures {
  bool usable = false;                     // see Backend::health()
  std::uint64_t reads_here = 0;            // answered on the reactor
  std::uint64_t reads_moved = 0;           // begun there, over the budget, and moved to the pool
  std::uint64_t reads_pooled = 0;          // answered by the pool, the moved ones too
  std::uint64_t snapshots = 0;             // read transactions that reactors shared
  std::uint64_t writes = 0;                // acknowledged, those of transactions too
  std::uint64_t commits = 0;               // transactions of the writer; writes / commits share one
  std::uint64_t writes_run = 0;            // in groups, also in those that were rolled back
  std::uint64_t groups_redone = 0;         // run again without the write that broke it
  std::uint64_t transactions = 0;          // begun by the program
  std::uint64_t transactions_expired = 0;  // held for too long, and rolled back
  std::uint64_t refused_full = 0;          // the queue was full
  std::uint64_t refused_waited = 0;        // waited for too long in a queue
  std::uint64_t refused_unusable = 0;      // the database was not usable
  std::uint64_t timeouts = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t busy_retries = 0;  // for the lock of another process
  std::uint64_t checkpoints = 0;
  std::uint64_t statements_prepared = 0;
  std::uint64_t outages = 0;  // how often it became unusable
  std::uint32_t writes_waiting = 0;
  std::uint32_t reads_waiting = 0;
  std::uint32_t readers = 0;  // size of the pool
  std::uint32_t readers_busy = 0;
  std::uint32_t streams_open = 0;
};

enum class Attempt : std::uint8_t {
  done,       // here and now; see the outcome
  elsewhere,  // submit it as Order::read
  writes,     // submit it as Order::write
};

class Backend {
 public:
  virtual ~Backend() = default;

  // A statement that may be answered without waiting, by the executor's thread. REQUIRES
  // Order::read.
  virtual Attempt try_here(const Request& request, Outcome& outcome) noexcept = 0;
  // The work is the backend's until it completes.
  virtual void submit(Work& work) noexcept = 0;
  // Nobody waits for a submitted work any more. Its executor's thread.
  virtual void withdraw(Work& work) noexcept = 0;
  // The transaction is rolled back if it is still open.
  virtual void roll_back(std::uint64_t transaction) noexcept = 0;
  // The stream needs no more of its rows.
  virtual void close(Cursor& cursor) noexcept = 0;

  // Usable? An Error says why not. Reads some words of memory.
  virtual katana::Result<void> health() const = 0;
  virtual Figures figures() const = 0;
  // Of calls that were given none.
  virtual Duration timeout_default() const noexcept = 0;
};

}  // namespace katana::database
