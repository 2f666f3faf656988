// TransactionOptions: the mode of a transaction, and the retries of transact().
//
//   co_await database.begin({.isolation = Isolation::serializable, .read_only = true});
//
// Owns       values only.
// Thread     values.
// Allocates  never.
// Invariant  a database gives at least the isolation that is asked for: SQLite's transactions are
//            always serializable.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::database {

// Isolation levels of SQL. A database may give a stronger one than asked for.
enum class Isolation : std::uint8_t {
  usual,            // what the database is configured to: read committed, mostly
  read_committed,   // sees what was committed before each statement
  repeatable_read,  // sees one snapshot throughout
  serializable,     // as if transactions ran one after another; may end in a conflict
};

// The options that the backend needs to begin a transaction.
struct TransactionMode {
  Isolation isolation = Isolation::usual;  // usual: the default of the database
  bool read_only = false;  // a statement that writes is refused, and the transaction has failed
  // With serializable and read_only: waits, before the first statement, for a snapshot that can
  // meet no conflict. Without these two it has no meaning.
  bool deferrable = false;
};

struct TransactionOptions {
  Isolation isolation = Isolation::usual;  // usual: the default of the database
  bool read_only = false;                  // a statement that writes fails
  // PostgreSQL: waits for a snapshot without conflicts; needs serializable and read_only
  bool deferrable = false;

  // The largest number of runs of the body in transact(). 1: it is not run again.
  unsigned attempts_max = 5;
  Duration backoff_min = milliseconds(5);    // before the second attempt; doubled each time,
  Duration backoff_max = milliseconds(500);  // jittered

  // The part that the backend needs.
  TransactionMode mode() const noexcept { return {isolation, read_only, deferrable}; }
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
