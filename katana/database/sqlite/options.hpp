// Options of an SQLite database: every limit and wait, with its default.
//
// Owns       values only, and a clock if one is given.
// Thread     values.
// Allocates  as strings do.
// Fails      open() names the option that is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "katana/base/executor.hpp"
#include "katana/base/instant.hpp"
#include "katana/database/durability.hpp"
#include "katana/database/migrations.hpp"

namespace katana::database::sqlite {

// What tests put in the place of threads and clocks. Borrowed; they outlive the database.
struct TestHooks {
  Executor* writer = nullptr;   // runs the writer; null: a thread of its own
  Executor* readers = nullptr;  // runs long reads; null: `readers` threads
  // With a clock nothing supervises the database but Sqlite::tick(). Null: the machine's.
  std::function<Instant()> clock = {};
};

struct Options {
  // ':memory:': a database that is empty at the start and gone at the end; see memory_folder.hpp.
  std::string path = {};
  bool create = true;           // at the start only: a file that vanishes later is never made anew
  std::string migrations = {};  // a folder; they are applied before anything else. Empty: none
  std::vector<Migration> bundled = {};  // the same, of the program; see bundled_migrations()
  Durability durability = Durability::full;

  unsigned readers = 4;  // threads and connections for reads that are not answered on a reactor
  std::size_t reads_waiting_max = 4096;
  std::size_t writes_waiting_max = 8192;
  std::size_t group_max = 256;                 // writes that share one commit
  Duration writer_linger = microseconds(100);  // the writer looks out for more before it sleeps
  Duration writer_gathers = microseconds(50);  // from a group's begin: for those just answered
  Duration wait_max = seconds(2);              // in a queue; then the call is refused: unavailable
  Duration timeout = seconds(30);              // of a call that was given none
  Duration busy_wait = seconds(5);             // for the lock of another process
  std::size_t rows_max = 100'000;              // of one result; more are for a stream
  std::size_t statements_max = 256;            // kept prepared, for each connection
  std::int64_t cache_kib = 8 * 1024;           // pages that each connection may keep

  Duration read_budget = microseconds(500);  // of a read on the reactor; then it goes to the pool
  // So often a statement that went over the budget goes to the pool at once.
  std::uint32_t slow_reads_remembered = 1000;
  // In one turn; the next go to the pool, so that a long loop of reads lets others in.
  std::uint32_t reads_per_turn_max = 1024;

  Duration transaction_hold = seconds(5);  // a transaction holds the writer; then: rolled back
  unsigned streams_max = 16;               // each holds a connection
  Duration stream_idle = seconds(30);      // a stream nobody reads loses it
  unsigned checkpoint_pages = 1000;        // of the log; then it is written back
  Duration probe_interval = milliseconds(250);

  std::string vfs = {};  // empty: the default
  TestHooks test_hooks = {};
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
