// The limits and timeouts of the backends of databases: the part of their options that
// configuration sets (`database.sqlite`, `database.postgres`). The file includes none of their
// libraries: a program that links neither can still name these settings.
//
// Owns       values only.
// Thread     values.
// Allocates  never.
// Invariant  the defaults of sqlite::Options and postgres::Options are these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::database {

// The keys of `database.sqlite`.
struct SqliteLimits {
  std::size_t reads_waiting_max = 4096;
  std::size_t writes_waiting_max = 8192;
  Duration writer_linger = microseconds(100);  // the writer looks out for more before it sleeps
  Duration writer_gathers = microseconds(50);  // from a group's begin: for those just answered
  Duration busy_wait = seconds(5);             // for the lock of another process
  std::size_t rows_max = 100'000;              // of one result; more are for a stream
  std::size_t statements_max = 256;            // kept prepared, for each connection
  Duration read_budget = microseconds(500);    // of a read on the reactor; then it goes to the pool
  // A statement that went over the budget goes to the pool at once for this many reads.
  std::uint32_t slow_reads_remembered = 1000;
  // The reads of one turn. Further reads go to the pool: a long loop of reads then lets other work
  // run.
  std::uint32_t reads_per_turn_max = 1024;
  Duration transaction_hold = seconds(5);  // a transaction holds the writer; then: rolled back
  unsigned streams_max = 16;               // each holds a connection
  Duration stream_idle = seconds(30);      // an unread stream loses it
  unsigned checkpoint_pages = 1000;        // of the log; then it is written back
  Duration probe_interval = milliseconds(250);
};

// The keys of `database.postgres`.
struct PostgresLimits {
  unsigned pipeline_depth = 64;           // statements on their way on one connection
  unsigned reads_per_sync = 32;           // plain reads of a turn that share a sync; 1: none do
  Duration slow_after = milliseconds(5);  // then no other statement goes behind it
  Duration connect_timeout = seconds(5);
  Duration idle_timeout = seconds(60);      // a connection without work for so long is closed
  Duration backoff_min = milliseconds(50);  // before the next attempt after one that failed;
  Duration backoff_max = seconds(2);        // doubled each time, jittered
  // The interval of a probe on an idle connection: does the server answer, and does it fit
  // target_session_attrs?
  Duration probe_interval = milliseconds(500);
  Duration probe_timeout = milliseconds(1500);  // no answer for so long: the database is unusable
  std::size_t waiting_max = 8192;               // calls that wait for a connection, of each reactor
  std::size_t rows_max = 100'000;               // of one result; more are for a stream
  Duration replica_lag_max = {};                // 0: replica() is the primary
  // False: nothing is kept in the server's session. For a pooler of transactions (pgbouncer).
  bool prepared_statements = true;
  std::size_t statements_max = 256;         // kept prepared, for each connection
  Duration transaction_hold = seconds(30);  // without a statement; then: rolled back
  unsigned streams_max = 8;                 // each holds a connection
  Duration stream_idle = seconds(30);       // an unread stream loses its connection
};

// Copies the limits to options of the same names.
template <class Options>
void apply_limits(Options& options, const SqliteLimits& limits) {
  options.reads_waiting_max = limits.reads_waiting_max;
  options.writes_waiting_max = limits.writes_waiting_max;
  options.writer_linger = limits.writer_linger;
  options.writer_gathers = limits.writer_gathers;
  options.busy_wait = limits.busy_wait;
  options.rows_max = limits.rows_max;
  options.statements_max = limits.statements_max;
  options.read_budget = limits.read_budget;
  options.slow_reads_remembered = limits.slow_reads_remembered;
  options.reads_per_turn_max = limits.reads_per_turn_max;
  options.transaction_hold = limits.transaction_hold;
  options.streams_max = limits.streams_max;
  options.stream_idle = limits.stream_idle;
  options.checkpoint_pages = limits.checkpoint_pages;
  options.probe_interval = limits.probe_interval;
}
template <class Options>
void apply_limits(Options& options, const PostgresLimits& limits) {
  options.pipeline_depth = limits.pipeline_depth;
  options.reads_per_sync = limits.reads_per_sync;
  options.slow_after = limits.slow_after;
  options.connect_timeout = limits.connect_timeout;
  options.idle_timeout = limits.idle_timeout;
  options.backoff_min = limits.backoff_min;
  options.backoff_max = limits.backoff_max;
  options.probe_interval = limits.probe_interval;
  options.probe_timeout = limits.probe_timeout;
  options.waiting_max = limits.waiting_max;
  options.rows_max = limits.rows_max;
  options.prepared_statements = limits.prepared_statements;
  options.replica_lag_max = limits.replica_lag_max;
  options.statements_max = limits.statements_max;
  options.transaction_hold = limits.transaction_hold;
  options.streams_max = limits.streams_max;
  options.stream_idle = limits.stream_idle;
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
